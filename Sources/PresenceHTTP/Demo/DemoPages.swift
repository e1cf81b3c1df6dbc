import NIOCore
import Synchronization

/// The responses of the demo's own server: its files, those of the SDK, and one command.
///
/// Other pages in the same browser can send requests here, too. A page of another host name whose
/// address is loopback is rejected by `Host`, and a command of another page by `Origin`.
final class DemoPages: Sendable {
    /// Addresses that are known when the service is ready.
    private struct Places: Sendable {
        /// Values of `Host` for which the pages are served.
        let hosts: [String]
        /// Where clients connect to the service: an address with a port.
        let service: String
    }

    private let files: [String: EmbeddedFile]
    private let sdk = SDKFiles()
    private let places = Mutex<Places?>(nil)
    private let kill: @Sendable (@escaping @Sendable (Int64) -> Void) -> Void

    init(kill: @escaping @Sendable (@escaping @Sendable (Int64) -> Void) -> Void) {
        self.kill = kill
        files = Dictionary(uniqueKeysWithValues: EmbeddedFile.demo.map { ($0.name, $0) })
    }

    /// Serves the pages from now on.
    func begin(at address: String, for service: String) {
        let port = address.suffix(while: { $0 != ":" })
        let names = ["127.0.0.1", "localhost"]
        let hosts = names.map { "\($0):\(port)" } + (port == "80" ? names : [])
        places.withLock { $0 = Places(hosts: hosts, service: service) }
    }

    /// Calls `write` with the response, perhaps later and on another thread.
    func respond(to head: RequestHead, _ write: @escaping @Sendable (Response) -> Void) {
        do throws(HTTPError) {
            guard let places = places.withLock({ $0 }) else { throw .starting }
            guard let host = head.fields.text(.host)?.lowercased(), places.hosts.contains(host)
            else { throw .otherHost(than: places.hosts[0]) }
            guard let path = head.target.path else { throw .invalidTarget }
            guard path == "/kill" else { return write(try page(path, head, places)) }
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

    private func page(
        _ path: Substring, _ head: RequestHead, _ places: Places
    ) throws(HTTPError) -> Response {
        guard head.method == .get || head.method == .head else { throw .methodNotAllowed([.get]) }
        let name = path == "/" ? "index.html" : String(path.dropFirst())
        var response = Response(
            status: .ok,
            headers: [
                .contentType: Self.type(of: name),
                .contentSecurityPolicy: Self.policy(places.service),
                .cacheControl: "no-cache", .referrerPolicy: "no-referrer",
            ])
        if name == "service.js" {
            let url = "ws://\(places.service)/v1/socket"
            response.body = .buffer(ByteBuffer(string: "export const service = \"\(url)\";\n"))
        } else if let file = files[name] {
            response.body = .buffer(ByteBuffer(bytes: file.bytes))
        } else if name.hasPrefix("sdk/"),
            let file = sdk.file(name.dropFirst(4), accepting: head.fields.text(.acceptEncoding))
        {
            response.body = .buffer(file.body)
            if file.isCompressed { response.headers[.contentEncoding] = "gzip" }
        } else {
            throw .noPage
        }
        return response
    }

    private static func type(of name: String) -> String {
        switch name.suffix(while: { $0 != "." }) {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "text/javascript; charset=utf-8"
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

extension StringProtocol {
    /// What follows the last character that is not meant.
    fileprivate func suffix(while isMeant: (Character) -> Bool) -> String {
        String(reversed().prefix(while: isMeant).reversed())
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

    fileprivate static var noPage: HTTPError {
        HTTPError(.notFound, "not_found", "The demo has no such file; open /.")
    }
}
