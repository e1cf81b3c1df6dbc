import NIOCore
import Synchronization

/// The responses of the demo's own server: its files, those of the SDK, and one command.
///
/// Other pages in the same browser can send requests here, too. A page of another host name whose
/// address is loopback is rejected by `Host`, and a command of another page by `Origin`.
final class DemoPages: HTTPApplication {
    /// What is known when the service is ready.
    private struct Places: Sendable {
        /// Values of `Host` for which the pages are served.
        let hosts: [String]
        let files: FileSet
    }

    let limits: HTTPLimits
    let counters = HTTPCounters()
    let date: DateField
    private let places = Mutex<Places?>(nil)
    private let kill: @Sendable (@escaping @Sendable (Int64) -> Void) -> Void

    init(
        _ date: DateField, connectionsMax: Int = 64,
        kill: @escaping @Sendable (@escaping @Sendable (Int64) -> Void) -> Void
    ) {
        self.date = date
        self.kill = kill
        var limits = HTTPLimits()
        limits.isForOneUser = true
        limits.connectionsMax = connectionsMax
        limits.bodyBytesMax = 1_024
        limits.lineBytesMax = 4_096
        (limits.requestSeconds, limits.progressSeconds) = (60, 60)
        (limits.headSeconds, limits.idleSeconds) = (60, 60)
        self.limits = limits
    }

    /// Serves the pages from now on, for clients that connect to the service at an address with a
    /// port.
    func begin(at address: String, for service: String) {
        let port = address.split(separator: ":").last ?? ""
        let names = ["127.0.0.1", "localhost"]
        let hosts = names.map { "\($0):\(port)" } + (port == "80" ? names : [])
        let url = "export const service = \"ws://\(service)/v1/socket\";\n"
        let files =
            EmbeddedFile.all(in: "demo/")
            + EmbeddedFile.all(in: "sdk/").map {
                EmbeddedFile(name: "sdk/" + $0.name, bytes: $0.bytes)
            } + [EmbeddedFile(name: "service.js", bytes: Array(url.utf8))]
        let fields: ResponseFields = [
            .contentSecurityPolicy: Self.policy(service), .referrerPolicy: "no-referrer",
            .vary: "Accept-Encoding",
        ]
        places.withLock { $0 = Places(hosts: hosts, files: FileSet(files, fields)) }
    }

    func plan(for head: RequestHead) -> RequestPlan {
        do throws(HTTPError) {
            guard let places = places.withLock({ $0 }) else { throw .starting }
            guard let host = head.authority?.lowercased(), places.hosts.contains(host)
            else { throw .otherHost(than: places.hosts[0]) }
            guard let path = head.target.path else { throw .invalidTarget }
            guard path == "/kill" else {
                let page = try places.files.page(path, head)
                return RequestPlan { _ in page }
            }
            guard head.method == .post else { throw .methodNotAllowed([.post]) }
            guard head.fields.text(.origin) == "http://\(host)" else { throw .otherOrigin }
            return RequestPlan { [self] _ in await killService() }
        } catch {
            return RequestPlan(rejecting: error)
        }
    }

    /// Waits until the service is ready again.
    private func killService() async -> Response {
        let times = AsyncStream<Int64> { ready in
            kill { milliseconds in
                ready.yield(milliseconds)
                ready.finish()
            }
        }
        for await milliseconds in times {
            return .json(.buffer(ByteBuffer(string: #"{"milliseconds":\#(milliseconds)}"#)))
        }
        // The client has disconnected, and does not get this.
        return HTTPError.starting.response
    }

    /// Nothing but what the pages have: no script within a page, and no other server.
    private static func policy(_ service: String) -> String {
        """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
        connect-src 'self' ws://\(service); frame-src 'self'; worker-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'self'
        """
    }
}

extension FileSet {
    fileprivate func page(_ path: Substring, _ head: RequestHead) throws(HTTPError) -> Response {
        guard head.method == .get || head.method == .head else { throw .methodNotAllowed([.get]) }
        guard let response = response(for: path.dropFirst(), to: head.fields) else {
            throw .noFile("The demo has no such file; open /.")
        }
        return response
    }
}

extension HTTPError {
    fileprivate static var starting: HTTPError {
        HTTPError(.serviceUnavailable, "starting", "The service is starting; reload the page.")
            .with(.retryAfter, "1")
    }

    fileprivate static func otherHost(than host: String) -> HTTPError {
        HTTPError(.misdirectedRequest, "misdirected", "Open http://\(host)/.")
    }

    fileprivate static var otherOrigin: HTTPError {
        HTTPError(
            .forbidden, "forbidden", "Only the demo's own page may do this: `Origin` is another.")
    }
}
