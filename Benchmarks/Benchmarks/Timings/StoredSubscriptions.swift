import Dispatch
import Foundation
import PresenceStore

/// A store in a temporary folder that is given subscriptions.
final class StoredSubscriptions {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "timings-\(ProcessInfo.processInfo.processIdentifier)-\(UUID())")
    private let store: Store
    private let committed = DispatchSemaphore(value: 0)
    private var ticket: UInt64 = 0
    private let publishers: PackedNames = {
        var list = PackedNames()
        for number in 0..<100 { list.append(Array("publisher-\(number)".utf8)) }
        return list
    }()

    /// Opens it, every commit durable.
    init() throws {
        store = try Store.open(directory: folder.path, durability: .full)
        store.start { [committed] outcomes in
            for _ in outcomes { committed.signal() }
        }
    }

    /// Has so many accounts subscribe to a hundred publishers each, and waits until all are kept.
    func commit(_ requests: Int) {
        let batch = (0..<requests).map { _ in
            ticket += 1
            return Submission(
                ticket: ticket,
                write: .putSubscriptions(
                    subscriber: Array("subscriber-\(ticket % 10_000)".utf8), type: 1,
                    publishers: publishers, created: 1_763_700_000_000,
                    expires: 1_763_800_000_000))
        }
        store.submit(batch)
        for _ in 0..<requests { committed.wait() }
    }

    /// Closes it and removes the folder.
    func end() {
        store.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}
