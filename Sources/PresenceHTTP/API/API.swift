import HTTPValues
import NIOCore
import PresenceCore
import PresenceGateway
import PresenceTokens
import PresenceWire

/// Answers the requests of app servers.
struct API: HTTPApplication {
    let gateway: Gateway
    let access: HTTPAccess
    let limits: HTTPLimits
    let counters: HTTPCounters
    let readiness: Readiness
    let date: DateField
    /// Nil if it is off.
    let console: FileSet?
    /// The version of the service.
    let version: String
    /// The sentences for a result of `why`.
    let story: @Sendable (_ facts: [UInt8]) throws -> [String]
    /// Nil without TLS.
    let certificates: HTTPCertificates?
    /// Whether all threads of the service respond.
    let isResponsive: @Sendable () -> Bool
    private let routes = RouteTable()

    func plan(for head: RequestHead) -> RequestPlan {
        let routing = head.method.flatMap { method in
            head.target.path.map { routes.find(String($0), method) }
        }
        do throws(HTTPError) {
            guard let host = head.host else { throw .invalidHost }
            guard let method = head.method else { throw .unknownMethod }
            guard method != .connect else { throw .noProxy }
            switch routing {
            case .notFound: throw head.asksForWebSocket ? .webSocket : .notFound
            case .found(let operation, _) where operation.path == "/" && head.asksForWebSocket:
                throw .webSocket
            case .methodNotAllowed(let methods): throw .methodNotAllowed(methods)
            case nil where head.target == .asterisk && method == .options:
                throw .methodNotAllowed(Array(Set(Operation.allCases.map(\.method))))
            case nil: throw .invalidTarget
            case .found(let operation, let parameters):
                let key = operation.isPublic ? nil : try authorize(head, host, for: operation)
                guard !head.hasUnknownExpectation else { throw .unknownExpectation }
                if operation.bodyMembers != nil { try checkBody(head) }
                return RequestPlan(operation: operation, for: party(of: operation, key)) { body in
                    await respond(to: head, key, operation, parameters, body)
                }
            }
        } catch {
            return RequestPlan(operation: routing?.operation, rejecting: error)
        }
    }

    /// Carries out a request.
    private func respond(
        to head: RequestHead, _ key: ServerKey?, _ operation: Operation, _ path: PathParameters,
        _ body: [UInt8]
    ) async -> Response {
        do {
            let query = try QueryParameters(head.target.query)
            let call = Call(head: head, key: key, path: path, query: query)
            switch operation.action {
            case .custom(let respond, as: _): return try await respond(self, call)
            case .call(let native):
                var methodCall = try call.methodCall(native)
                if let members = operation.bodyMembers {
                    methodCall.body = body
                    methodCall.bodyMembers = members
                }
                let result = try await gateway.call(
                    methodCall, native.form, isReadOnly: key?.isReadOnly == true)
                guard native.method == .why else { return .json(.result(result)) }
                return .json(.buffer(try withStory(result.bytes)))
            }
        } catch {
            return HTTPError(error).response
        }
    }

    /// Checks whether the client may use the API for this. Returns its key; nil: none is needed.
    private func authorize(
        _ head: RequestHead, _ host: HostName, for operation: Operation
    ) throws(HTTPError) -> ServerKey? {
        switch access {
        case .keysOrLocal(let ring) where ring.count == 0:
            guard host.isLocal else { throw .misdirected }
            return nil
        case .keys(let ring), .keysOrLocal(let ring):
            guard let text = BearerKey.key(in: head.fields[.authorization]) else { throw .noKey }
            guard let key = ring.key(text) else { throw .invalidKey }
            guard operation.isReading || !key.isReadOnly else { throw .readOnlyKey(key.name) }
            return key
        }
    }

    private func party(of operation: Operation, _ key: ServerKey?) -> RequestParty {
        if let key { return key.isReadOnly ? .readOnly : .full }
        // Without keys, a local client may do all.
        guard operation.isPublic else { return .full }
        return operation.isOfHealth ? .health : .anonymous
    }

    private func checkBody(_ head: RequestHead) throws(HTTPError) {
        let encodings = head.fields.elements(of: .contentEncoding)
        guard encodings.allSatisfy({ $0.elementsEqual("identity".utf8) }) else {
            throw .notDecoded
        }
        guard ContentType.isJSON(head.fields.text(.contentType)) else { throw .noJSON }
    }
}

extension Routing {
    /// The operation that was found.
    var operation: Operation? {
        guard case .found(let operation, _) = self else { return nil }
        return operation
    }
}

/// The key of `Authorization: Bearer KEY` (RFC 6750, 2.1; RFC 9110, 11.4).
enum BearerKey {
    static func key(in field: [UInt8]?) -> [UInt8]? {
        guard let field, let space = field.firstIndex(of: UInt8(ascii: " ")),
            field[..<space].lowercasedASCII.elementsEqual("bearer".utf8)
        else { return nil }
        return Array(field[space...].withoutBlanks)
    }
}

enum ContentType {
    /// Whether the media type is JSON, in any case and with any parameters.
    static func isJSON(_ field: String?) -> Bool {
        guard let field else { return false }
        let type = Array(field.utf8).prefix { $0 != UInt8(ascii: ";") }.withoutBlanks
        return type.lowercasedASCII.elementsEqual("application/json".utf8)
    }
}
