import Connections
import EventLoop
import Logging
import PresenceCore
import SecureLoop

/// Drives a connection loop on a thread of its own: passes on the loop's events and what other
/// threads have for it, without logic.
final class LoopDriver: LoopHandler {
    var connections: ConnectionLoop<SecureLoop, ThreadedLink>
    /// Output that is carried out in one turn of the loop. An event to 100 receivers is about a
    /// kilobyte, so these are some 12,000 deliveries: 75 ms if each is a write of its own, most of
    /// them in later turns (`FlushQueue`).
    static let outputBytesPerTurn = 128 << 10

    private let box: LinkBox
    private let acceptedSockets: [AcceptedSockets]
    private let counts: ConnectionCounts

    /// `acceptedSockets` are those of all loops.
    init(
        _ connections: consuming ConnectionLoop<SecureLoop, ThreadedLink>, _ box: LinkBox,
        _ acceptedSockets: [AcceptedSockets], _ counts: ConnectionCounts
    ) {
        self.connections = connections
        self.box = box
        self.acceptedSockets = acceptedSockets
        self.counts = counts
    }

    /// Of the loop that accepts: the connection goes to the loop that has the fewest. One that is
    /// rejected stays here, where it is sent the reason.
    func socketAccepted(_ socket: CInt, listener: Int) -> Bool {
        connections.beginTurn()
        let network = Loop.peerNetwork(ofSocket: socket)
        let limits = connections.configuration.admission
        guard let place = counts.admit(network, limits) else {
            connections.reject(
                connections.loop.adopt(socket, listener: listener), on: kind(of: listener))
            return true
        }
        let arrival = AcceptedSockets.Arrival(
            socket: socket, listener: listener, address: place.address)
        if place.loop == box.loop {
            adopt(arrival)
        } else {
            acceptedSockets[place.loop].put(arrival)
        }
        return true
    }

    private func adopt(_ arrival: AcceptedSockets.Arrival) {
        connections.accept(
            connections.loop.adopt(arrival.socket, listener: arrival.listener),
            from: arrival.address, on: kind(of: arrival.listener))
    }

    private func kind(of listener: Int) -> ListenerKind {
        connections.configuration.listeners[listener]
    }

    func streamAccepted(_ id: StreamID) {
        preconditionFailure("a socket that was not taken")
    }

    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {
        connections.beginTurn()
        unsafe connections.receive(RawSpan(_unsafeBytes: bytes), from: id)
    }

    func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        connections.beginTurn()
        connections.streamEnded(id, reason)
    }

    func streamDrained(_ id: StreamID) {
        connections.beginTurn()
        connections.streamDrained(id)
    }

    func streamClosed(_ id: StreamID) { connections.streamClosed(id) }
    func acceptFailed(_ error: UVError) { connections.acceptFailed(error) }
    func timerFired() { connections.beginTurn() }
    func turnEnded() { connections.turnEnded() }
    func signalReceived(_ signal: CInt) {}

    func wokenUp() {
        connections.beginTurn()
        let turns = box.takeOutbound(bytesMax: Self.outputBytesPerTurn)
        for arrival in acceptedSockets[box.loop].take() { adopt(arrival) }
        for turn in turns {
            var outbound = turn.outbound
            connections.take(&outbound)
        }
    }
}
