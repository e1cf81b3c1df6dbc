import NIOCore
import Synchronization

/// The responses of the demo's own server: its files, those of the SDK, and one command.
///
/// Other pages in the same browser can send requests here, too. A page of another host name whose
/// address is loopback is rejected by `Host`, and a command of another page by `Origin`.
final class DemoPages: Sendable {
    /// What is known when the service is ready.
    private struct Places: Sendable {
        /// Values of `Host` for which the pages are served.
        let hosts: [String]
        let files: FileSet
    }

    private let places = Mutex<Places?>(nil)
    private let kill: @Sendable (@escaping @Sendable (Int64) -> Void) -> Void

    init(kill: @escaping @Sendable (@escaping @Sendable (Int64) -> Void) -> Void) {
        self.kill = kill
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

    /// Calls `write` with the response, perhaps later and on another thread.
    func respond(to head: RequestHead, _ write: @escaping @Sendable (Response) -> Void) {
        do throws(HTTPError) {
            guard let places = places.withLock({ $0 }) else { throw .starting }
            guard let host = head.fields.text(.host)?.lowercased(), places.hosts.contains(host)
            else { throw .otherHost(than: places.hosts[0]) }
            guard let path = head.target.path else { throw .invalidTarget }
            guard path == "/kill" else { return write(try places.files.page(path, head)) }
            guard head.method == .post else { throw .methodNotAllowed([.post]) }
            guard head.fields.text(.origin) == "http://\(host)" else { throw .otherOrigin }
            kill { milliseconds in
                let body = ByteBuffer(string: #"{"milliseconds":\#(milliseconds)}"#)
                write(.json(.buffer(body)))
            }
        } catch {
            write(error.response)
        }
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
