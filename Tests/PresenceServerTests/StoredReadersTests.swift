import Foundation
import PresenceStore
import PresenceWire
import Testing

@testable import PresenceServer

@Suite struct `The positions of readers in this process` {
    private func name(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func started(_ directory: String) throws -> (Store, StoredReaders) {
        let store = try Store.open(directory: directory, durability: .relaxed)
        let readers = try StoredReaders(store)
        store.start(outcome: { outcomes in
            // None is left for the engine host, which does not know them.
            precondition(readers.take(outcomes).isEmpty)
        })
        return (store, readers)
    }

    @Test func `are stored when the answer comes, and are there after a restart`() async throws {
        let directory = NSTemporaryDirectory() + "porchlight-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (store, readers) = try started(directory)
        #expect(readers.names.isEmpty && readers.newest.seq == 0)
        #expect(await readers.move(ReaderMove(name("a"), to: name("1"))))
        #expect(await readers.move(ReaderMove(name("b"), to: nil)))
        // What it was at the start is taken once.
        #expect(readers.take(name("a")) == nil)
        readers.close()
        #expect(!(await readers.move(ReaderMove(name("a"), to: name("2")))))
        store.stop()
        let (again, kept) = try started(directory)
        #expect(kept.newest.epoch == readers.newest.epoch)
        #expect(Set(kept.names) == [name("a"), name("b")])
        #expect(kept.take(name("a"))?.cursor == name("1") && kept.take(name("a")) == nil)
        #expect(await kept.remove(name("b")))
        kept.close()
        again.stop()
        let (last, left) = try started(directory)
        #expect(left.names == [name("a")])
        last.stop()
    }
}
