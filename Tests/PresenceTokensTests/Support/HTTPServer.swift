import Foundation
import Synchronization
import Testing

/// A web server of one page, on a port of its own.
final class HTTPServer: Sendable {
    struct Page: Sendable {
        var status = "200 OK"
        var headers = ""
        var body: [UInt8] = []
        var requests = 0
        /// Whether the rest of an answer, which is said to be longer, never comes.
        var stalls = false
    }

    private let listener: CInt
    private let page: Mutex<Page>
    let port: UInt16

    init(_ body: [UInt8]) throws {
        page = Mutex(Page(body: body))
        listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = self.listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(listener, name, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
        Thread { [self] in serve() }.start()
    }

    var requests: Int { page.withLock { $0.requests } }

    func change(_ change: @Sendable (inout Page) -> Void) {
        page.withLock { change(&$0) }
    }

    func stop() { shutdown(listener, CInt(SHUT_RDWR)) }

    private func serve() {
        // Here, where it is used: its number may be that of another test's socket then.
        defer { close(listener) }
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            var request: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while !request.suffix(4).elementsEqual(Array("\r\n\r\n".utf8)) {
                let count = recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                request += buffer.prefix(count)
            }
            let page = page.withLock { page in
                page.requests += 1
                return page
            }
            let head =
                "HTTP/1.1 \(page.status)\r\n"
                + "content-length: \(page.body.count + (page.stalls ? 1 : 0))\r\n"
                + "connection: close\r\n\(page.headers)\r\n"
            let answer = Array(head.utf8) + page.body
            _ = send(connection, answer, answer.count, CInt(MSG_NOSIGNAL))
            // Until the client gives up.
            if page.stalls { _ = recv(connection, &buffer, buffer.count, 0) }
            close(connection)
        }
    }
}
