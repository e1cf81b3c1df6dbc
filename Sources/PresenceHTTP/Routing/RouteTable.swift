/// The result of a search for the operation of a request.
enum Routing: Sendable {
    /// An operation, and the path segments for the names in its braces.
    case found(Operation, PathParameters)
    /// The path exists, but only with these methods.
    case methodNotAllowed([HTTPMethod])
    /// There is no such path.
    case notFound
}

/// The path segments for the names in a template, not decoded.
struct PathParameters: Sendable {
    fileprivate(set) var values: [(name: String, text: Substring)] = []

    subscript(name: String) -> Substring? { values.first { $0.name == name }?.text }
}

/// The operations, by path and method.
///
/// There are few of them, so they are compared one after the other.
struct RouteTable: Sendable {
    /// Finds the operation. Segments are compared without decoding, so an account name may contain
    /// a slash, written `%2F`.
    func find(_ path: String, _ method: HTTPMethod) -> Routing {
        guard path.utf8.first == UInt8(ascii: "/") else { return .notFound }
        let segments = Self.segments(of: path)
        // HEAD is GET without the body.
        let wanted = method == .head ? .get : method
        var methods: [HTTPMethod] = []
        for operation in Operation.allCases {
            guard let parameters = match(operation.segments, segments) else { continue }
            guard operation.method != wanted else { return .found(operation, parameters) }
            methods.append(operation.method)
        }
        return methods.isEmpty ? .notFound : .methodNotAllowed(methods)
    }

    /// The segments of a path: what follows each slash. The last one may be empty.
    static func segments(of path: String) -> [Substring] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }

    private func match(_ path: [String], _ segments: [Substring]) -> PathParameters? {
        guard path.count == segments.count else { return nil }
        var parameters = PathParameters()
        for (wanted, segment) in zip(path, segments) {
            if wanted.utf8.first == UInt8(ascii: "{") {
                parameters.values.append((String(wanted.dropFirst().dropLast()), segment))
            } else if !wanted.utf8.elementsEqual(segment.utf8) {
                return nil
            }
        }
        return parameters
    }
}
