import Synchronization
import TestSupport

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

    private let page: SharedPage
    private let server: LoopbackServer

    private final class SharedPage: Sendable {
        let value: Mutex<Page>

        init(_ page: Page) { value = Mutex(page) }
    }

    init(_ body: [UInt8]) throws {
        let page = SharedPage(Page(body: body))
        self.page = page
        server = try LoopbackServer { connection in
            guard connection.request() != nil else { return }
            let page = page.value.withLock { page in
                page.requests += 1
                return page
            }
            let head =
                "HTTP/1.1 \(page.status)\r\n"
                + "content-length: \(page.body.count + (page.stalls ? 1 : 0))\r\n"
                + "connection: close\r\n\(page.headers)\r\n"
            connection.send(Array(head.utf8) + page.body)
            if page.stalls { connection.waitForEnd() }
        }
    }

    var port: UInt16 { server.port }

    var requests: Int { page.value.withLock { $0.requests } }

    func change(_ change: @Sendable (inout Page) -> Void) {
        page.value.withLock { change(&$0) }
    }

    func stop() { server.stop() }
}
