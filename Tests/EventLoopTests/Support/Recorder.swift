import EventLoop
import Testing

/// Writes down what a loop tells, lets a test react, and runs the loop until a condition holds.
final class Recorder: LoopHandler {
    let loop: Loop
    var accepted: [StreamID] = []
    /// The listeners of `accepted`.
    var listeners: [Int] = []
    var connected: [StreamID] = []
    var received: [StreamID: [UInt8]] = [:]
    var ends: [StreamEnd] = []
    var drained: [StreamID] = []
    var closed: [StreamID] = []
    var acceptFailures: [UVError] = []
    var signals: [CInt] = []
    var wakeCount = 0
    var turnCount = 0
    var onAccepted: (StreamID) -> Void
    var onConnected: (StreamID) -> Void = { _ in }
    var onReceived: (StreamID, [UInt8]) -> Void = { _, _ in }
    var onEnded: (StreamID) -> Void = { _ in }
    var onDrained: (StreamID) -> Void = { _ in }
    var onAcceptFailed: () -> Void = {}
    var onWokenUp: () -> Void = {}

    private var isDone: () -> Bool = { true }
    /// Far beyond what a slow machine needs: it turns a hang into a failure.
    private static let patienceMilliseconds: UInt64 = 30_000

    init(_ loop: Loop) {
        self.loop = loop
        onAccepted = { loop.startReading($0) }
    }

    /// Runs the loop until the condition holds at the end of a turn.
    func run(
        until condition: @escaping () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        isDone = condition
        loop.armTimer(
            atMonotonicMilliseconds: loop.monotonicMilliseconds + Recorder.patienceMilliseconds)
        loop.run(self)
        loop.disarmTimer()
        // The condition usually looks at this recorder: a cycle, were it kept.
        isDone = { true }
        #expect(condition(), "the loop gave up waiting", sourceLocation: sourceLocation)
    }

    /// Lets everything happen that is ready to happen.
    func settle() {
        let wakesBefore = wakeCount
        let turnsBefore = turnCount
        loop.wakeup.wake()
        run(until: { [self] in
            if wakeCount > wakesBefore, turnCount < turnsBefore + 4 { loop.wakeup.wake() }
            return wakeCount > wakesBefore && turnCount >= turnsBefore + 4
        })
    }

    func streamAccepted(_ id: StreamID) {
        accepted.append(id)
        onAccepted(id)
    }
    func streamAccepted(_ id: StreamID, listener: Int) {
        listeners.append(listener)
        streamAccepted(id)
    }
    func streamConnected(_ id: StreamID) {
        connected.append(id)
        onConnected(id)
    }
    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {
        #expect(!bytes.isEmpty)
        received[id, default: []] += bytes
        onReceived(id, Array(bytes))
    }
    func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        ends.append(reason)
        onEnded(id)
    }
    func streamDrained(_ id: StreamID) {
        drained.append(id)
        onDrained(id)
    }
    func streamClosed(_ id: StreamID) { closed.append(id) }
    func acceptFailed(_ error: UVError) {
        acceptFailures.append(error)
        onAcceptFailed()
    }
    func timerFired() { loop.stop() }
    func wokenUp() {
        wakeCount += 1
        onWokenUp()
    }
    func signalReceived(_ signal: CInt) { signals.append(signal) }
    func turnEnded() {
        turnCount += 1
        if isDone() { loop.stop() }
    }
}

extension Loop {
    func write(_ id: StreamID, _ bytes: [UInt8]) -> WriteOutcome {
        bytes.withUnsafeBytes { write(id, $0) }
    }

    /// Listens on any free port of the loopback interface.
    func listenAnywhere() throws -> UInt16 {
        try listen(host: "127.0.0.1", port: 0).port
    }
}
