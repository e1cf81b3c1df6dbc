// A start does not end because something is missing that may be available later, such as an address
// that a network service adds after boot: it tries again.

import EventLoop
import Foundation
import Logging
import PresenceStore

/// Waits until nothing is missing that a start needs, with longer and longer pauses.
struct StartWait {
    /// Waits this long; false if the process is to end.
    let pause: (_ seconds: Int) -> Bool
    /// Reports what is missing, and after how many seconds the next attempt follows.
    let report: (_ missing: String, _ seconds: Int) -> Void

    /// How the wait of a start ended.
    enum End {
        /// Nothing was missing.
        case atOnce
        /// Something was missing, and is not any more.
        case later
        /// The process is to end.
        case ended
    }

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
    /// Waits until this machine has the addresses of all listeners, and the disk has room for a new
    /// database. SIGTERM and SIGINT end the wait.
    ///
    /// Of the addresses only that is checked; the listeners themselves report a port that is in
    /// use.
    func awaitWhatMayCome(_ logger: Logger) throws(UVError) -> StartWait.End {
        let end = try wait(
            until: missingAddresses, named: "address",
            "the address of a listener is not available yet; trying again",
            state: "the address of a listener", logger)
        guard case .atOnce = end else { return end }
        return try wait(
            until: fullDirectory, named: "path", "the disk is full; trying again",
            state: "space on the disk", logger)
    }

    private func wait(
        until missing: () -> String?, named key: String, _ message: Logger.Message, state: String,
        _ logger: Logger
    ) throws(UVError) -> StartWait.End {
        guard missing() != nil else { return .atOnce }
        let pause = try SignalPause([SIGTERM, SIGINT])
        defer { pause.close() }
        let wait = StartWait(pause: pause.wait) { what, seconds in
            logger.warning(
                message, metadata: [key: "\(what)", "seconds": .stringConvertible(seconds)])
            Supervisor.tell(Supervisor.waits(for: "\(state): \(what)", seconds: seconds))
        }
        guard wait.run(until: missing) else { return .ended }
        Supervisor.tell(Supervisor.continues)
        return .later
    }

    /// The data directory, if its disk has no room for a new database; nil: it has, or there is a
    /// database, or something else is wrong, which the start says.
    private func fullDirectory() -> String? {
        do throws(StoreFileError) {
            try Store.create(directory: startup.dataDirectory)
            return nil
        } catch {
            return error.reason == .diskFull ? error.path : nil
        }
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
