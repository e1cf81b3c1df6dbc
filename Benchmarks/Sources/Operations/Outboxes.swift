import Containers
import Outboxes
import PresenceWire

extension Operation {
    /// What a delivery costs between the engine and the kernel: as in
    /// `ConnectionLoop`, with a sink for what would be written.
    static let outboxes: [Operation] = [
        Operation("outboxes: a delivery, of one event to 100", perRun: 100) {
            let crowd = Crowd()
            return Work { crowd.turn(events: 1) }
        },
        Operation("outboxes: a delivery, of 20 events to 100", perRun: 2_000) {
            let crowd = Crowd()
            return Work { crowd.turn(events: 20) }
        },
        Operation("outboxes: a presence, of one to 100", perRun: 100) {
            let crowd = Crowd(bareJID: bareJID)
            return Work { crowd.turn(events: 1) }
        },
        Operation("outboxes: a presence, of 20 to 100", perRun: 2_000) {
            let crowd = Crowd(bareJID: bareJID)
            return Work { crowd.turn(events: 20) }
        },
    ]

    private static let bareJID = Array("bob@example.org".utf8)
}

/// A hundred outboxes that take every event.
private final class Crowd {
    private var frames = SharedFrames()
    private var pool = BufferPool()
    private var outboxes = [Outbox](repeating: Outbox(), count: 100)
    private let event = [UInt8](repeating: 0x7b, count: 249)
    /// What each receiver has in the gap of a presence; empty: receivers of events.
    private let bareJID: [UInt8]
    private var written = 0

    init(bareJID: [UInt8] = []) {
        self.bareJID = bareJID
    }

    func turn(events: Int) {
        let event = event
        for _ in 0..<events {
            guard let frame = bareJID.isEmpty ? share(event) : sharePresence(event) else {
                preconditionFailure("more than a turn holds")
            }
            let textBytes = bareJID.count
            for slot in outboxes.indices {
                frames.share(frame, with: &outboxes[slot], textBytes: textBytes)
            }
        }
        frames.beginWriting()
        let before = written
        for slot in outboxes.indices {
            written &+= unsafe frames.drain(
                &outboxes[slot], filling: bareJID, to: &pool
            ) { $0.count }
        }
        frames.endWriting(all: true)
        let bytes = event.count + (bareJID.isEmpty ? Framing.native.headerBytesMax : bareJID.count)
        precondition(written - before == events * outboxes.count * bytes)
    }

    private func share(_ event: [UInt8]) -> SharedFrames.Frame? {
        frames.add(
            event.span, headerBytesMax: Framing.native.headerBytesMax, for: outboxes.count
        ) { body, bytes in
            Framing.native.append(to: &bytes) { $0.append(body) }
        }
    }

    private func sharePresence(_ event: [UInt8]) -> SharedFrames.Frame? {
        let gaps = [40]
        return frames.add(event.span, gaps: gaps.span, for: outboxes.count)
    }
}
