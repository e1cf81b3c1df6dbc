import HTTPTypes
import HummingbirdCore
import NIOCore
import PresenceGateway
import PresenceTokens

/// Answers requests.
struct API {
    let gateway: Gateway
    let access: HTTPAccess
    let limits: HTTPLimits
    let counters: HTTPCounters
    let readiness: Readiness
    let date: DateField
    let sdk = SDKFiles()
    /// Nil without TLS.
    let certificates: HTTPCertificates?
    private let routes = RouteTable()

    /// The body cannot be read to its end: the connection is lost, or its input is not HTTP.
    struct BodyReadError: Error {
        var cause: any Error
    }

    /// Answers any request. Throws only if no client can receive a response any more.
    func respond(to request: Request, over channel: any Channel) async throws -> Response {
        let routing = routes.find(request.uri.path, request.method)
        counters.begin()
        var response: Response
        do {
            response = try await respond(to: request, routing, over: channel)
        } catch let error as BodyReadError {
            counters.end(routing.operation, nil)
            throw error.cause
        } catch {
            response = HTTPError(error).response
        }
        counters.end(routing.operation, response.status)
        response.headers[.date] = date.text
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        response.headers[.xContentTypeOptions] = "nosniff"
        if request.method == .head { response = response.createHeadResponse() }
        if response.status == .contentTooLarge || counters.connections > limits.connectionsToShed {
            response.headers[.connection] = "close"
        }
        return response
    }

    private func respond(
        to request: Request, _ routing: Routing, over channel: any Channel
    ) async throws -> Response {
        // The first one is in the request itself.
        guard !request.headers.contains(where: { $0.name.canonicalName == "host" }) else {
            throw HTTPError.severalHosts
        }
        switch routing {
        case .notFound: throw HTTPError.notFound
        case .methodNotAllowed(let methods): throw HTTPError.methodNotAllowed(methods)
        case .found(let operation, let parameters):
            if !operation.isPublic { try authorize(request) }
            let call = Call(
                operation: operation, path: parameters,
                query: try QueryParameters(request.uri.query),
                body: try await body(of: request, for: operation))
            switch operation {
            case .readFeed: return try await feed(call, request, over: channel)
            case .getSDKFile: return try sdkFile(call, request)
            default: return try await carryOut(call)
            }
        }
    }

    /// Checks whether the client may use the API.
    private func authorize(_ request: Request) throws(HTTPError) {
        switch access {
        case .keysOrLocal(let ring) where ring.count == 0:
            guard Authority.isLocal(request.head.authority) else { throw .misdirected }
        case .keys(let ring), .keysOrLocal(let ring):
            guard let field = request.headers[.authorization] else { throw .noKey }
            let words = field.split(separator: " ", maxSplits: 1)
            guard words.count == 2, words[0].lowercased() == "bearer" else { throw .noKey }
            guard ring.name(of: Array(words[1].utf8)) != nil else { throw .invalidKey }
        }
    }

    private func body(of request: Request, for operation: Operation) async throws -> [UInt8]? {
        guard operation.bodyMembers != nil else { return nil }
        guard ContentType.isJSON(request.headers[.contentType]) else { throw HTTPError.noJSON }
        let bytesMax = limits.bodyBytesMax
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > bytesMax {
            throw HTTPError.bodyTooLarge(bytesMax: bytesMax)
        }
        do {
            return Array(try await request.body.collect(upTo: bytesMax).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw HTTPError.bodyTooLarge(bytesMax: bytesMax)
        } catch {
            throw BodyReadError(cause: error)
        }
    }
}

extension Routing {
    /// The operation to count.
    var operation: Operation? {
        guard case .found(let operation, _) = self else { return nil }
        return operation
    }
}

/// The host name by which the client addresses the API.
enum Authority {
    /// Whether it is localhost or a numeric address.
    ///
    /// A web page can make its reader's browser send requests to the page's own host name and let
    /// that name resolve to 127.0.0.1 (DNS rebinding). Without keys, that page could read
    /// everything.
    static func isLocal(_ authority: String?) -> Bool {
        guard let authority, !authority.isEmpty else { return true }
        if authority.hasPrefix("[") { return true }
        let host = authority.split(separator: ":", omittingEmptySubsequences: false)[0]
        if host.lowercased() == "localhost" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}

enum ContentType {
    /// Whether the media type is JSON, in any case and with any parameters.
    static func isJSON(_ field: String?) -> Bool {
        guard let field else { return false }
        let type = field.split(separator: ";", omittingEmptySubsequences: false)[0]
        let words = type.split { $0 == " " || $0 == "\t" }
        return words.count == 1 && words[0].lowercased() == "application/json"
    }
}
