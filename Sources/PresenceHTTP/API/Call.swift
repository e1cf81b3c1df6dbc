import PresenceCore
import PresenceTokens
import PresenceWire

/// A request, parsed as far as its operation needs.
struct Call: Sendable {
    let head: RequestHead
    /// The key that it has; nil if it needs none.
    let key: ServerKey?
    let path: PathParameters
    let query: QueryParameters

    /// The call of the service, without a body: names from the path, parameters from the query.
    func methodCall(_ native: NativeCall) throws(HTTPError) -> MethodCall {
        var call = MethodCall(native.method)
        for (name, segment) in path.values {
            guard let text = PercentEncoding.decode(segment, plus: .literal) else {
                throw .invalidEncoding(in: name)
            }
            if let argument = try native.argument(name, text) { call.arguments.append(argument) }
        }
        for parameter in native.query {
            if let argument = try parameter.argument(in: query) { call.arguments.append(argument) }
        }
        call.arguments += native.fixed
        return call
    }
}

extension NativeCall {
    /// The parameter for a name in the path.
    fileprivate func argument(
        _ name: String, _ text: String
    ) throws(HTTPError) -> MethodCall.Argument? {
        switch (name, account) {
        case ("account", .publisher):
            MethodCall.Argument(.publisher, .text(text), for: .account)
        case ("account", .onlyElement):
            MethodCall.Argument(.accounts, .texts([text]), for: .account)
        case ("type", _): try .integer(.type, text)
        default: Rejection.Field(rawValue: name).map { MethodCall.Argument($0, .text(text)) }
        }
    }
}

/// A query parameter that becomes a parameter of the method, under the same name.
enum QueryName: Sendable {
    case integer(Rejection.Field)
    /// The type; 1 by default.
    case typeOfPresence
    case text(Rejection.Field)
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
    static func integer(_ field: Rejection.Field, _ text: String) throws(HTTPError) -> Self {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        let isInteger =
            digits == "0"
            || (digits.utf8.first ?? 0) != UInt8(ascii: "0") && !digits.isEmpty
                && digits.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard isInteger else { throw .notInteger(field.rawValue) }
        return Self(field, .integer(Int64(text)))
    }
}
