import Dispatch
import Foundation
import PresenceStore
import Testing

/// Real disks that are full or may not be written.
@Suite struct DiskTests {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()

    private func put(_ subscriber: String, _ count: Int = 100) -> Write {
        .putSubscriptions(
            subscriber: name(subscriber), type: 1,
            publishers: names((0..<count).map { "publisher number \($0)" }), created: 1,
            expires: 2)
    }

    @Test func `a database at its largest size rejects writes until it is emptied`() throws {
        var tuning = StoreTuning()
        tuning.databasePagesMax = 40
        let store = try Store.open(directory: directory.data, durability: .full, tuning: tuning)
        store.start(outcome: outcomes.report)
        var acknowledged = 0
        while try store.write(put("s\(acknowledged)"), into: outcomes) == [.committed] {
            acknowledged += 1
        }
        #expect((1..<40).contains(acknowledged))
        #expect(
            try store.write(put("s\(acknowledged)"), into: outcomes)
                == [.failed(StoreError(code: 13))])
        let image = try directory.crashImage()
        #expect(try Contents(of: image.data).subscriptions.count == acknowledged * 100)
        let clear = Write.removeAllSubscriptions(subscriber: name("s0"), type: 1)
        #expect(try store.write(clear, into: outcomes) == [.committed])
        #expect(try store.write(put("s0", 50), into: outcomes) == [.committed])
        store.stop()
        #expect(
            try Contents(of: directory.data).subscriptions.count == acknowledged * 100 - 50)
    }

    @Test func `a full disk rejects writes, and lazy writes follow when there is space again`()
        throws
    {
        guard let disk = SmallDisk(at: directory.data, kibibytes: 1_024) else { return }
        let committed = DispatchSemaphore(value: 0)
        var tuning = StoreTuning()
        tuning.backoffMillisecondsMin = 5
        tuning.faults = InjectedFaults { if $0 == .commitInLog { committed.signal() } }
        let store = try Store.open(directory: disk.path, durability: .full, tuning: tuning)
        store.start(outcome: outcomes.report)
        #expect(try store.write(put("before"), into: outcomes) == [.committed])
        committed.wait()
        disk.fill(disk.path + "/ballast")
        var rejected = 0
        while rejected < 3 {
            store.writeLazily(put("lazy \(rejected)"))
            guard case .failed = try store.write(put("during"), into: outcomes)[0] else {
                committed.wait()
                disk.fill(disk.path + "/ballast")
                continue
            }
            rejected += 1
        }
        while committed.wait(timeout: .now()) == .success {}
        try FileManager.default.removeItem(atPath: disk.path + "/ballast")
        #expect(committed.wait(timeout: .now() + 30) == .success)
        #expect(store.stop().lostWrites == 0)
        let found = try Contents(of: disk.path)
        #expect(found.subscriptions(of: "before").count == 100)
        for number in 0..<3 { #expect(found.subscriptions(of: "lazy \(number)").count == 100) }
    }

    @Test func `a disk that was full at a crash is opened, and numbers are reserved all the same`()
        throws
    {
        guard let disk = SmallDisk(at: directory.data, kibibytes: 1_024) else { return }
        let store = try Store.open(directory: disk.path, durability: .full)
        store.start(outcome: outcomes.report)
        #expect(try store.write(put("before", 1_000), into: outcomes) == [.committed])
        #expect(try store.write(.reserveSequence(upTo: 100), into: outcomes) == [.committed])
        disk.fill(disk.path + "/ballast")
        // The log cannot be copied into the database: so it is left as a crash leaves it.
        store.stop()
        let log = URL(fileURLWithPath: disk.path + "/porchlight.sqlite-wal")
        #expect(try !Data(contentsOf: log).isEmpty)

        for end in [Int64(200), 300] {
            let again = try Store.open(directory: disk.path, durability: .full)
            #expect(try Contents(reading: again).sequence == end - 100)
            again.start(outcome: outcomes.report)
            let full = StoreError(code: 13)
            #expect(
                try again.write(.reserveSequence(upTo: end), into: outcomes) == [.reserved(full)])
            #expect(try again.write(put("during"), into: outcomes) == [.failed(full)])
            #expect(again.stop().lostWrites == 1)
        }
        try FileManager.default.removeItem(atPath: disk.path + "/ballast")
        let last = try Store.open(directory: disk.path, durability: .full)
        #expect(try Contents(reading: last).sequence == 300)
        last.start(outcome: outcomes.report)
        #expect(try last.write(put("after"), into: outcomes) == [.committed])
        last.stop()
        let found = try Contents(of: disk.path)
        #expect(found.subscriptions(of: "before").count == 1_000)
        #expect(found.subscriptions(of: "during").isEmpty)
        #expect(found.subscriptions(of: "after").count == 100)
    }

    @Test func `a read-only disk is rejected`() throws {
        guard let disk = SmallDisk(at: directory.data, kibibytes: 1_024) else { return }
        try Store.open(directory: disk.path, durability: .full).stop()
        let before = try directory.contents()
        try #require(disk.makeReadOnly())
        do throws(StoreFileError) {
            try Store.open(directory: disk.path, durability: .full).stop()
            Issue.record("opened")
        } catch {
            #expect(
                error.description
                    == "\(disk.path) is not writable (Read-only file system); "
                    + "give this user write access to it or choose another directory with --data.")
        }
        #expect(try directory.contents() == before)
    }
}
