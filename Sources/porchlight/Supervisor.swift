import Foundation

/// Notifies systemd of the service's state, if asked to: `Type=notify`.
///
/// The protocol is a datagram to the socket that an environment variable names (sd_notify(3)).
enum Supervisor {
    /// Clients are accepted.
    static let ready = "READY=1"

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
