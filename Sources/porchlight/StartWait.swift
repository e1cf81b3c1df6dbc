// A start does not end because something is missing that may be available later, such as an address
// that a network service adds after boot: it tries again.

import EventLoop
import Foundation
import Logging

/// Waits until nothing is missing that a start needs, with longer and longer pauses.
struct StartWait {
    /// Waits this long; false if the process is to end.
    let pause: (_ seconds: Int) -> Bool
    /// Reports what is missing, and after how many seconds the next attempt follows.
    let report: (_ missing: String, _ seconds: Int) -> Void

    /// The longest pause between two attempts.
    static let secondsMax = 30

    /// Attempts until nothing is missing. Returns false if the process is to end.
    ///
    /// - Parameter missing: makes an attempt, and names what is missing; nil: nothing.
    func run(until missing: () -> String?) -> Bool {
        var seconds = 1
        while let name = missing() {
            report(name, seconds)
            guard pause(seconds) else { return false }
            seconds = min(seconds * 2, Self.secondsMax)
        }
        // A signal that has arrived since the last pause.
        return pause(0)
    }
}

/// Pauses that a signal ends.
final class SignalPause: LoopHandler {
    private let loop: Loop
    private var hasSignal = false

    /// Handles these signals from now on.
    init(_ signals: [CInt]) throws(UVError) {
        loop = try Loop()
        do throws(UVError) {
            try loop.watchSignals(signals)
        } catch {
            loop.close()
            throw error
        }
    }

    /// Waits this long, or until there is a signal. Returns whether there was none.
    func wait(seconds: Int) -> Bool {
        loop.armTimer(
            atMonotonicMilliseconds: loop.monotonicMilliseconds + UInt64(seconds) * 1_000)
        loop.run(self)
        return !hasSignal
    }

    /// Restores the default of the signals. Nothing may be called afterwards.
    func close() { loop.close() }

    func signalReceived(_ signal: CInt) {
        hasSignal = true
        loop.stop()
    }

    func timerFired() { loop.stop() }

    func streamAccepted(_ id: StreamID) {}
    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {}
    func streamEnded(_ id: StreamID, _ reason: StreamEnd) {}
    func streamDrained(_ id: StreamID) {}
    func streamClosed(_ id: StreamID) {}
    func acceptFailed(_ error: UVError) {}
    func wokenUp() {}
    func turnEnded() {}
}

extension ServiceSettings {
    /// Waits until this machine has the addresses of all listeners. Returns false if SIGTERM or
    /// SIGINT has ended the wait.
    ///
    /// Only that is checked; the listeners themselves report a port that is in use.
    func awaitAddresses(_ logger: Logger) throws(UVError) -> Bool {
        guard missingAddresses() != nil else { return true }
        let pause = try SignalPause([SIGTERM, SIGINT])
        defer { pause.close() }
        let wait = StartWait(pause: pause.wait) { addresses, seconds in
            logger.warning(
                "the address of a listener is not available yet; trying again",
                metadata: ["address": "\(addresses)", "seconds": "\(seconds)"])
            Supervisor.tell(
                Supervisor.waits(for: "the address of a listener: \(addresses)", seconds: seconds))
        }
        guard wait.run(until: missingAddresses) else { return false }
        Supervisor.tell(Supervisor.continues)
        return true
    }

    /// The addresses of listeners that this machine does not have, with commas between them; nil:
    /// it has them all.
    func missingAddresses() -> String? {
        let missing = listenerAddresses.filter { Self.isMissing(Self.numericAddress($0).host) }
        return missing.isEmpty ? nil : missing.joined(separator: ", ")
    }

    /// Whether this machine does not have a numeric address. Any free port shows that.
    private static func isMissing(_ host: String) -> Bool {
        guard let loop = try? Loop() else { return false }
        defer { loop.close() }
        do throws(UVError) {
            _ = try loop.bind(host: host, port: 0)
            return false
        } catch {
            return error.isAddressMissing
        }
    }
}

extension UVError {
    /// Whether no interface of this machine has the address.
    var isAddressMissing: Bool { name == "EADDRNOTAVAIL" }

    /// Whether another attempt to listen may succeed without a change of the settings.
    var mayPass: Bool { isAddressMissing || name == "EADDRINUSE" }
}
