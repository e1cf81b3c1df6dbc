import Connections
import Containers
import EventLoop
import PresenceStore
import SecureLoop
import TLSSessions

// What a connection loop and the engine host need from outside. In a service these are the loop and
// the store; in the simulator, a network and a disk that fail by a seed. No method may call its
// caller before it returns.

/// Sockets and clocks.
protocol Transport: AnyObject, ThreadClock, Sockets {
    /// Milliseconds of a clock that never jumps.
    var monotonicMilliseconds: UInt64 { get }
    /// The same clock in nanoseconds.
    var monotonicNanoseconds: UInt64 { get }
    /// Milliseconds since 1970 UTC, by a clock that may jump.
    var wallMilliseconds: Int64 { get }
    /// Connections that are not completely closed.
    var streamCount: Int { get }
    /// What was counted of TLS.
    var tlsCounters: TLSCounters { get }
    /// When the first certificate expires, in seconds since 1970; zero without TLS.
    var tlsExpiresSeconds: Int { get }

    /// Has new connections over TLS use this from now on.
    func use(_ context: TLSContext?, ofListeners contexts: [Int: TLSContext])
    /// Encrypts a stream of this listener, which is not read from and has written everything.
    func startTLS(_ id: StreamID, listener: Int)
    /// Whether a stream is encrypted.
    func isEncrypted(_ id: StreamID) -> Bool
    func peerAddress(of id: StreamID) -> String?
    func peerNetwork(of id: StreamID) -> ClientNetwork?

    func armTimer(atMonotonicMilliseconds deadline: UInt64)
    func disarmTimer()
    func startListening() throws(UVError)
    func stopListening()
    func stop()
}

extension Transport {
    // Without TLS.
    var tlsCounters: TLSCounters { TLSCounters() }
    var tlsExpiresSeconds: Int { 0 }
    func use(_ context: TLSContext?, ofListeners contexts: [Int: TLSContext]) {}
    func startTLS(_ id: StreamID, listener: Int) {}
    func isEncrypted(_ id: StreamID) -> Bool { false }
}

/// What the threads of the process use.
protocol ThreadClock: AnyObject {
    /// CPU time of the calling thread.
    var threadMicroseconds: UInt64 { get }
}

extension ThreadClock {
    var threadMicroseconds: UInt64 { 0 }
}

extension Loop: ThreadClock {
    var threadMicroseconds: UInt64 { Self.threadMicroseconds() }

    var wallMilliseconds: Int64 { Self.wallMilliseconds() }
}

extension SecureLoop: Transport {
    var wallMilliseconds: Int64 { loop.wallMilliseconds }
    var threadMicroseconds: UInt64 { loop.threadMicroseconds }

    var tlsCounters: TLSCounters { counters }
    var tlsExpiresSeconds: Int {
        let used = context ?? contextsOfListeners.values.first
        return Int(clamping: used?.certificates.map(\.expiresSeconds).min() ?? 0)
    }

    func use(_ context: TLSContext?, ofListeners contexts: [Int: TLSContext]) {
        self.context = context
        contextsOfListeners = contexts
    }

    func startListening() throws(UVError) { try loop.startListening() }
    func stopListening() { loop.stopListening() }
}

/// What the process uses.
protocol ProcessResources: ThreadClock {
    /// Resident memory, in bytes.
    var memoryBytes: UInt64 { get }
    /// The limit on the memory of the process, read again.
    var memoryLimit: MemoryLimit { get }
    /// CPU time.
    var processorMicroseconds: UInt64 { get }
    /// The result of the last `measureMemory`; nil before the first.
    var measuredMemory: MeasuredMemory? { get }

    /// Begins to measure memory, and returns at once.
    func measureMemory()
    /// Begins to return free memory to the kernel, and returns at once.
    func returnFreeMemory()
}

extension Loop: ProcessResources {}

/// Takes writes and reads; their outcomes arrive by `EngineHost.report`.
protocol Persistence: AnyObject {
    func submit(_ batch: consuming [Submission])
    func submit(_ read: Read, token: UInt64)
    var counters: StoreCounters { get }
    var commitTimes: DurationHistogram { get }
}

extension Store: Persistence {}

/// Compares passwords and derives keys; the results arrive by `EngineHost.report`.
protocol PasswordDeriving: AnyObject {
    func submit(_ work: PasswordWork)
}

/// Verifies tokens; the results arrive by `EngineHost.report`.
protocol TokenVerifying: AnyObject {
    func submit(_ request: TokenRequest, to authenticator: any Authenticator)
}
