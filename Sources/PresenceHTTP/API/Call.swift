import NIOCore
import PresenceGateway

/// A request, parsed as far as its operation needs.
struct Call: Sendable {
    let operation: Operation
    let path: PathParameters
    let query: QueryParameters
    let body: JSONObject?

    /// The `params` for the service: names from the path, parameters from the query, then the
    /// members of the body that the operation knows.
    func params(
        path names: [PathName], query parameters: [QueryName] = []
    ) throws(HTTPError) -> ByteBuffer {
        var params = JSONMembers()
        for name in names { try name.append(path, to: &params) }
        for parameter in parameters { try parameter.append(query, to: &params) }
        for member in body?.members ?? []
        where operation.bodyMembers?.contains(member.name) == true {
            params.append(member.name, json: JSONText.withoutZeroFraction(member.value))
        }
        return params.object
    }
}

/// A path segment that becomes a parameter.
enum PathName: Sendable {
    /// A name, under the name of its parameter.
    case name(String, as: String)
    /// An account, as the only element of a list.
    case onlyAccount
    /// The type.
    case type

    func append(_ path: PathParameters, to params: inout JSONMembers) throws(HTTPError) {
        switch self {
        case .name(let name, let parameter): params.append(parameter, try decode(name, path))
        case .onlyAccount: params.append("accounts", [try decode("account", path)])
        case .type: try params.appendInteger("type", try decode("type", path))
        }
    }

    private func decode(_ name: String, _ path: PathParameters) throws(HTTPError) -> String {
        guard let text = PercentEncoding.decode(path[name] ?? "", plus: .literal) else {
            throw .invalidEncoding(in: name)
        }
        return text
    }
}

/// A query parameter that becomes a parameter of the method.
enum QueryName: Sendable {
    case integer(String)
    /// The type; 1 by default.
    case typeOfPresence
    case text(String)
    /// `publisher`, any number of times.
    case publishers

    func append(_ query: QueryParameters, to params: inout JSONMembers) throws(HTTPError) {
        switch self {
        case .integer(let name):
            if let value = try query.one(name) { try params.appendInteger(name, value) }
        case .typeOfPresence:
            try params.appendInteger("type", try query.one("type") ?? "1")
        case .text(let name):
            if let value = try query.one(name) { params.append(name, value) }
        case .publishers:
            let names = query.all("publisher")
            if !names.isEmpty { params.append("publishers", names) }
        }
    }
}

extension JSONMembers {
    /// Appends an integer of any size; the service checks its range.
    fileprivate mutating func appendInteger(
        _ name: String, _ text: String
    ) throws(HTTPError) {
        let json = ByteBuffer(string: text)
        guard JSONText.isInteger(json) else { throw .notInteger(name) }
        append(name, json: json)
    }
}
