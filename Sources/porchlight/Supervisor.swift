import EventLoop
import Foundation
import Logging
import PresenceServer

/// Notifies systemd of the service's state, if asked to: `Type=notify`.
///
/// The protocol is a datagram to the socket that an environment variable names (sd_notify(3)).
enum Supervisor {
    /// Clients are accepted.
    static let ready = "READY=1"
    /// A start that has waited continues; it may take `startSecondsMax`.
    static let continues = "STATUS=\nEXTEND_TIMEOUT_USEC=\(startSecondsMax)000000"
    /// All loops respond: `WatchdogSec`.
    static let alive = "WATCHDOG=1"

    /// `TimeoutStartSec` of the unit.
    private static let startSecondsMax = 300

    /// A start waits for something, and says so again within this time.
    ///
    /// Its attempt itself takes a moment, and a busy machine takes longer.
    static func waits(for what: String, seconds: Int) -> String {
        "STATUS=Waiting for \(what)\nEXTEND_TIMEOUT_USEC=\(seconds + 30)000000"
    }

    /// The exit code of a process that the watchdog ends (EX_SOFTWARE).
    private static let exitCode: CInt = 70

    /// Watches the loops for the supervisor, and ends the process if one has ended no turn for this
    /// time.
    static func watchdog(seconds: Int, _ logger: Logger) -> Watchdog {
        var limits = Watchdog.Limits()
        limits.endSeconds = seconds
        limits.supervisorMilliseconds = watchdogMilliseconds
        let isSupervised = watchdogMilliseconds != nil
        return Watchdog(
            limits, whenResponsive: { if isSupervised { tell(alive) } },
            end: { loop, seconds in
                // The loop may hang because the log does.
                let line = try? NamedThread(name: "last line") {
                    logger.critical(
                        "a loop has ended no turn: the process ends",
                        metadata: ["loop": "\(loop)", "seconds": .stringConvertible(seconds)])
                }
                _ = line?.join(withinMilliseconds: 1_000)
                _exit(exitCode)
            })
    }

    /// Within which time the supervisor wants to be notified, if at all.
    private static var watchdogMilliseconds: UInt64? {
        let environment = ProcessInfo.processInfo.environment
        if let process = environment["WATCHDOG_PID"], process != "\(getpid())" { return nil }
        guard let text = environment["WATCHDOG_USEC"], let microseconds = UInt64(text),
            microseconds > 0
        else { return nil }
        return microseconds / 1_000
    }

    /// Sends a state if there is a supervisor; never blocks.
    static func tell(_ state: String) {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        // A name in the abstract name space begins with a zero, which is written @.
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        let nameBytesMax = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard name.count > 1, name.count <= nameBytesMax else { return }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        _ = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(
                    socket, state, state.utf8.count, Int32(MSG_DONTWAIT), $0, length)
            }
        }
    }
}
