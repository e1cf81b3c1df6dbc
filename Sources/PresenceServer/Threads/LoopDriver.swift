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
    private let intakes: [Intake]
    private let census: Census

    /// `intakes` are those of all loops.
    init(
        _ connections: consuming ConnectionLoop<SecureLoop, ThreadedLink>, _ box: LinkBox,
        _ intakes: [Intake], _ census: Census
    ) {
        self.connections = connections
        self.box = box
        self.intakes = intakes
        self.census = census
    }

    /// Of the loop that accepts: the connection goes to the loop that has the fewest. One that is
    /// refused stays here, to be told why.
    func socketAccepted(_ socket: CInt, listener: Int) -> Bool {
        connections.beginTurn()
        let network = Loop.peerNetwork(ofSocket: socket)
        let now = connections.now().mono
        let overdue = takeBackOverdue(at: now)
        let limits = connections.configuration.admission
        guard let place = census.admit(network, limits, overdue: overdue) else {
            connections.refuse(
                connections.loop.adopt(socket, listener: listener), on: kind(of: listener))
            return true
        }
        give(
            Intake.Arrival(socket: socket, listener: listener, address: place.address),
            to: place.loop, at: now)
        return true
    }

    /// Gives the connections that other loops have not adopted in time to those that work. Returns
    /// the former.
    private func takeBackOverdue(at now: Mono) -> LoopSet {
        let overdue = LoopSet(intakes.indices.filter { intakes[$0].isOverdue(at: now) })
        guard !overdue.isEmpty else { return overdue }
        for loop in intakes.indices where overdue.contains(loop) {
            for arrival in intakes[loop].takeBack() {
                give(arrival, to: census.move(from: loop, overdue: overdue), at: now)
            }
        }
        return overdue
    }

    /// Gives a connection to a loop, which may be this one.
    private func give(_ arrival: Intake.Arrival, to loop: Int, at now: Mono) {
        if loop == box.loop {
            adopt(arrival)
        } else {
            intakes[loop].put(arrival, at: now)
        }
    }

    private func adopt(_ arrival: Intake.Arrival) {
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
        for arrival in intakes[box.loop].take() { adopt(arrival) }
        for turn in turns {
            var outbound = turn.outbound
            connections.take(&outbound)
        }
    }
}
