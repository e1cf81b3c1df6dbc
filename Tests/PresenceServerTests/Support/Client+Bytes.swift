@testable import PresenceClient

extension Client {
    /// Sends bytes as they are.
    func sendRaw(_ bytes: [UInt8]) throws(ClientError) {
        try socket.send(bytes)
    }
}
