import NIOCore
import PresenceGateway

/// A request, taken apart as far as its operation needs it.
struct Call: Sendable {
    let operation: Operation
    let path: PathParameters
    let query: QueryParameters
    let body: JSONObject?

    /// The `params` for the service, from names in the path and what the query has, and behind
    /// them the members of the body that belong there.
    func params(
        path names: [PathName], query parameters: [QueryName] = []
    ) throws(Problem) -> ByteBuffer {
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

/// What stands in a path and becomes a parameter.
enum PathName: Sendable {
    /// A name, under the parameter's own.
    case name(String, as: String)
    /// An account, as the only one of a list.
    case onlyAccount
    /// The type.
    case type

    func append(_ path: PathParameters, to params: inout JSONMembers) throws(Problem) {
        switch self {
        case .name(let name, let parameter): params.append(parameter, try decode(name, path))
        case .onlyAccount: params.append("accounts", [try decode("account", path)])
        case .type: try params.appendInteger("type", try decode("type", path))
        }
    }

    private func decode(_ name: String, _ path: PathParameters) throws(Problem) -> String {
        guard let text = PercentEncoding.decode(path[name] ?? "", plus: .literal) else {
            throw .invalidEncoding(in: name)
        }
        return text
    }
}

/// What may stand in a query and becomes a parameter.
enum QueryName: Sendable {
    case integer(String)
    /// 1 where it is not there.
    case typeOfPresence
    case text(String)
    /// `publisher`, as often as one likes.
    case publishers

    func append(_ query: QueryParameters, to params: inout JSONMembers) throws(Problem) {
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
    /// Appends what the service takes for an integer, of whatever size.
    fileprivate mutating func appendInteger(
        _ name: String, _ text: String
    ) throws(Problem) {
        let json = ByteBuffer(string: text)
        guard JSONText.isInteger(json) else { throw .notInteger(name) }
        append(name, json: json)
    }
}
