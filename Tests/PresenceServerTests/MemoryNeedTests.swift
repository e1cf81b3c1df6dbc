import EventLoop
import PresenceStore
import Testing

@testable import PresenceServer

@Suite struct `The memory that a database needs` {
    private static let need = MemoryNeed([.session: 200_000])

    private func rejection(_ bytes: UInt64, _ source: MemoryLimit.Source) -> String? {
        do throws(ServiceError) {
            try Self.need.check(MemoryLimit(bytes: bytes, source: source))
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `is at most the limit of the group`() {
        let group = MemoryLimit.Source.group("/a", file: "memory.max")
        #expect(rejection(Self.need.bytes, group) == nil)
        #expect(
            rejection(Self.need.bytes - 1, group)
                == "Cannot start: the database needs about 115165824 bytes of memory; the limit of "
                + "the group is 115165823. Raise that limit.")
    }

    @Test func `may be more than the machine has, which may swap`() {
        #expect(rejection(1, .machine) == nil)
    }
}
