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
    ]
}

/// A hundred outboxes that take every event.
private final class Crowd {
    private var frames = SharedFrames()
    private var pool = BufferPool()
    private var outboxes = [Outbox](repeating: Outbox(), count: 100)
    private let event = [UInt8](repeating: 0x7b, count: 249)
    private var written = 0

    func turn(events: Int) {
        let event = event
        for _ in 0..<events {
            let shared = frames.add(
                event.span, headerBytesMax: Framing.native.headerBytesMax, for: outboxes.count
            ) { body, bytes in
                Framing.native.append(to: &bytes) { $0.append(body) }
            }
            guard let frame = shared else {
                preconditionFailure("more than a turn holds")
            }
            for slot in outboxes.indices { frames.share(frame, with: &outboxes[slot]) }
        }
        frames.beginWriting()
        let before = written
        for slot in outboxes.indices {
            written &+= unsafe frames.drain(&outboxes[slot], to: &pool) { $0.count }
        }
        frames.beginTurn()
        precondition(written - before == events * outboxes.count * (event.count + 4))
    }
}
