import Containers
import EventLoop

@testable import PresenceServer

/// A network that cuts, delays and drops, and the clocks.
///
/// Each stream has a kernel's worth of room towards its client. What the client has not read
/// fills it; what does not fit is pending, as in the loop. What clients send comes in pieces.
final class SimulatedNetwork: Transport, ProcessResources {
    struct Stream {
        let id: StreamID
        var roomBytes: Int
        /// On its way to the client.
        var toClient: [UInt8] = []
        /// Written and not yet on its way.
        var pending: [UInt8] = []
        /// Bytes that were written since the beginning.
        var bytesHanded: UInt64 = 0
        /// Those of them that the client has read, and when it did last.
        var bytesRead: UInt64 = 0
        var readTime: UInt64
        var toServer: [UInt8] = []
        var isReading = false
        /// The client sends no more; told when the server has read everything.
        var hasClientFinished = false
        var isEndTold = false
        /// The server closes when everything is on its way.
        var isLingering = false
        /// Closed by the server; `streamClosed` is due.
        var isClosed = false
        /// The client is gone without a word: nothing it is sent arrives anywhere.
        var isReset = false
    }

    var monotonicMilliseconds: UInt64 = 1_000_000
    var wallMilliseconds: Int64 = 1_763_700_000_000
    var monotonicNanoseconds: UInt64 { monotonicMilliseconds * 1_000_000 }
    var memoryBytes: UInt64 { 0 }
    var memoryLimit: MemoryLimit { MemoryLimit(bytes: 1 << 30, source: .machine) }
    var measuredMemory: MeasuredMemory? { nil }
    func measureMemory() {}
    func returnFreeMemory() {}
    var processorMicroseconds: UInt64 { 0 }
    private(set) var streams: [StreamID: Stream] = [:]
    private var generations: [UInt32] = []
    private var freeSlots: [UInt32] = []
    private(set) var armed: UInt64?
    private(set) var isAccepting = false
    private(set) var isStopped = false

    var streamCount: Int { streams.count }

    // MARK: For the simulator

    func open(roomBytes: Int) -> StreamID {
        let slot: UInt32
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = UInt32(generations.count)
            generations.append(0)
        }
        generations[Int(slot)] += 1
        let id = StreamID(slot: slot, generation: generations[Int(slot)])
        streams[id] = Stream(id: id, roomBytes: roomBytes, readTime: monotonicMilliseconds)
        return id
    }

    func withStream<R>(_ id: StreamID, _ body: (inout Stream) -> R) -> R? {
        guard streams[id] != nil else { return nil }
        return streams[id].map { _ in
            body(&streams[id, default: Stream(id: id, roomBytes: 0, readTime: 0)])
        }
    }

    /// What the client reads: at most `bytesMax` bytes, and whether the stream has ended.
    func read(_ id: StreamID, bytesMax: Int) -> (bytes: [UInt8], isDrained: Bool) {
        withStream(id) { stream in
            let count = min(bytesMax, stream.toClient.count)
            let bytes = Array(stream.toClient.prefix(count))
            stream.toClient.removeFirst(count)
            if count > 0 {
                stream.bytesRead += UInt64(count)
                stream.readTime = monotonicMilliseconds
            }
            let wasPending = !stream.pending.isEmpty
            let room = min(stream.pending.count, stream.roomBytes - stream.toClient.count)
            if room > 0 {
                stream.toClient += stream.pending.prefix(room)
                stream.pending.removeFirst(room)
            }
            return (bytes, wasPending && stream.pending.isEmpty)
        } ?? ([], false)
    }

    func remove(_ id: StreamID) {
        streams[id] = nil
        freeSlots.append(id.slot)
    }

    var ids: [StreamID] {
        streams.keys.sorted { $0.slot < $1.slot }
    }

    // MARK: Transport

    func startReading(_ id: StreamID) { _ = withStream(id) { $0.isReading = true } }
    func stopReading(_ id: StreamID) { _ = withStream(id) { $0.isReading = false } }

    func write(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) -> WriteOutcome {
        let failed = WriteOutcome.failed(UVError(code: -32, operation: "write"))
        return withStream(id) { stream in
            guard !stream.isClosed, !stream.isReset, !stream.isLingering else { return failed }
            precondition(stream.pending.isEmpty, "a write while one is pending")
            stream.bytesHanded += UInt64(bytes.count)
            let room = max(0, min(bytes.count, stream.roomBytes - stream.toClient.count))
            stream.toClient += bytes[0..<room]
            stream.pending += bytes[room...]
            return stream.pending.isEmpty ? .written : .pending(bytes: stream.pending.count)
        } ?? failed
    }

    func bytesPending(_ id: StreamID) -> Int { streams[id]?.pending.count ?? 0 }
    func millisecondsSinceReceived(_ id: StreamID) -> UInt64? { nil }

    /// A client's kernel acknowledges what the client reads.
    func delivery(_ id: StreamID) -> SocketDelivery? {
        streams[id].map { stream in
            SocketDelivery(
                bytesHanded: stream.bytesHanded - UInt64(stream.pending.count),
                bytesAcknowledged: stream.bytesRead,
                millisecondsSince: monotonicMilliseconds - stream.readTime)
        }
    }

    func close(_ id: StreamID) { _ = withStream(id) { $0.isClosed = true } }
    func closeAfterWrites(_ id: StreamID) { _ = withStream(id) { $0.isLingering = true } }
    func peerNetwork(of id: StreamID) -> ClientNetwork? {
        streams[id].flatMap { ClientNetwork(address: [10, 0, 0, UInt8($0.id.slot % 200)]) }
    }

    func peerAddress(of id: StreamID) -> String? {
        streams[id].map { "10.0.0.\($0.id.slot % 200):1" }
    }

    func armTimer(atMonotonicMilliseconds deadline: UInt64) { armed = deadline }
    func disarmTimer() { armed = nil }
    func startListening() { isAccepting = true }
    func stopListening() { isAccepting = false }
    func stop() { isStopped = true }
}
