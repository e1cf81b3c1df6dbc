import PresenceCore
import PresenceWire

/// A request, parsed as far as its operation needs.
struct Call: Sendable {
    let operation: Operation
    let path: PathParameters
    let query: QueryParameters
    let body: [UInt8]?

    /// The call of the service: names from the path, parameters from the query, and the members of
    /// the body that the operation knows.
    func call(
        _ method: MethodName, path names: [PathName], query parameters: [QueryName] = []
    ) throws(HTTPError) -> MethodCall {
        var call = MethodCall(method)
        for name in names { call.arguments.append(try name.argument(in: path)) }
        for parameter in parameters {
            if let argument = try parameter.argument(in: query) { call.arguments.append(argument) }
        }
        call.body = body
        call.bodyMembers = operation.bodyMembers ?? []
        return call
    }
}

/// A path segment that becomes a parameter.
enum PathName: Sendable {
    /// A name, as this parameter.
    case name(String, as: Refusal.Field)
    /// An account, as the only element of a list.
    case onlyAccount
    /// The type.
    case type

    func argument(in path: PathParameters) throws(HTTPError) -> MethodCall.Argument {
        switch self {
        case .name(let name, let field):
            MethodCall.Argument(field, .text(try decode(name, path)))
        case .onlyAccount: MethodCall.Argument(.accounts, .texts([try decode("account", path)]))
        case .type: try .integer(.type, try decode("type", path))
        }
    }

    private func decode(_ name: String, _ path: PathParameters) throws(HTTPError) -> String {
        guard let text = PercentEncoding.decode(path[name] ?? "", plus: .literal) else {
            throw .invalidEncoding(in: name)
        }
        return text
    }
}

/// A query parameter that becomes a parameter of the method, under the same name.
enum QueryName: Sendable {
    case integer(Refusal.Field)
    /// The type; 1 by default.
    case typeOfPresence
    case text(Refusal.Field)
    /// `publisher`, any number of times.
    case publishers

    func argument(in query: QueryParameters) throws(HTTPError) -> MethodCall.Argument? {
        switch self {
        case .integer(let field):
            guard let value = try query.one(field.rawValue) else { return nil }
            return try .integer(field, value)
        case .typeOfPresence:
            return try .integer(.type, try query.one("type") ?? "1")
        case .text(let field):
            return try query.one(field.rawValue).map { MethodCall.Argument(field, .text($0)) }
        case .publishers:
            let names = query.all("publisher")
            return names.isEmpty ? nil : MethodCall.Argument(.publishers, .texts(names))
        }
    }
}

extension MethodCall.Argument {
    /// An integer of any size, written as in JSON; the service checks its range.
    static func integer(_ field: Refusal.Field, _ text: String) throws(HTTPError) -> Self {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        let isInteger =
            digits == "0"
            || (digits.utf8.first ?? 0) != UInt8(ascii: "0") && !digits.isEmpty
                && digits.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard isInteger else { throw .notInteger(field.rawValue) }
        return Self(field, .integer(Int64(text)))
    }
}
