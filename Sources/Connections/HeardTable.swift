import EventLoop
public import PresenceCore
import Synchronization

/// When bytes of each connection last arrived, by slot.
///
/// Written by the loop that reads from the connections. The engine host fills in from here what
/// the engine reports of sessions: so a keep-alive costs the engine nothing. Relaxed: a reader may
/// see a time that is slightly out of date.
public final class HeardTable: Sendable {
    /// The times of 4,096 slots, in milliseconds of the monotonic clock.
    private final class Segment: Sendable {
        let times = InlineArray<4_096, Atomic<UInt64>> { _ in Atomic(0) }
    }

    private static let slotsPerSegment = 4_096

    /// A table without slots.
    public init() {}

    private let segments = Guarded<[Segment]>([])

    /// When bytes of the connection in `slot` last arrived; 0 if it never had one. Any thread.
    public func time(_ slot: UInt32) -> Mono {
        let number = Int(slot) / Self.slotsPerSegment
        let segment = segments.withLock { number < $0.count ? $0[number] : nil }
        guard let segment else { return Mono(milliseconds: 0) }
        let time = segment.times[Int(slot) % Self.slotsPerSegment].load(ordering: .relaxed)
        return Mono(milliseconds: time)
    }

    /// The one place that writes the table.
    struct Writer {
        let table: HeardTable
        /// The same segments, without the lock.
        private var segments: [Segment] = []

        init(_ table: HeardTable) {
            self.table = table
        }

        /// Makes room for a slot.
        mutating func reserve(_ slot: UInt32) {
            while segments.count <= Int(slot) / HeardTable.slotsPerSegment {
                let segment = Segment()
                segments.append(segment)
                table.segments.withLock { $0.append(segment) }
            }
        }

        /// Notes that bytes have arrived at `time`, or starts with it. O(1).
        func set(_ slot: UInt32, to time: Mono) {
            segments[Int(slot) / HeardTable.slotsPerSegment]
                .times[Int(slot) % HeardTable.slotsPerSegment]
                .store(time.milliseconds, ordering: .relaxed)
        }

        /// When bytes last arrived.
        func time(_ slot: UInt32) -> Mono {
            let time = segments[Int(slot) / HeardTable.slotsPerSegment]
                .times[Int(slot) % HeardTable.slotsPerSegment].load(ordering: .relaxed)
            return Mono(milliseconds: time)
        }
    }
}
