import Testing

@testable import PresenceHTTP

/// What a path, a query and a header ask for.
@Suite struct `A request` {
    private let table = RouteTable()

    private func find(_ method: HTTPMethod, _ path: String) -> String {
        switch table.find(path, method) {
        case .found(let operation, let parameters):
            let names = ["account", "type", "device"].compactMap { parameters[$0] }
            return "\(operation.name) \(names.joined(separator: " "))"
        case .methodNotAllowed(let methods):
            return methods.map(\.rawValue).sorted().joined(separator: ",")
        case .notFound: return "nothing"
        }
    }

    @Test(arguments: PresenceHTTP.Operation.allCases)
    func `finds every operation by its own path`(operation: PresenceHTTP.Operation) {
        let path = operation.path.split(separator: "/").map { $0.first == "{" ? "x" : $0 }
            .joined(separator: "/")
        #expect(find(operation.method, "/" + path).hasPrefix("\(operation.name) "))
    }

    /// A new route is reading if its method is; here it must be said so, too.
    @Test(arguments: PresenceHTTP.Operation.allCases)
    func `may be read if it is GET and no secret, or asks for states`(
        operation: PresenceHTTP.Operation
    ) {
        let isSecret = ["listDevices", "readUndelivered"].contains(operation.name)
        let isReading = operation.method == .get || operation.name == "queryStates"
        #expect(operation.isReading == (isReading && !isSecret))
    }

    @Test func `takes names unchanged from the path`() {
        #expect(find(.get, "/v1/accounts/a%2Fb/state") == "getState a%2Fb")
        #expect(find(.put, "/v1/accounts//statuses/1") == "publishStatus  1")
        #expect(find(.delete, "/v1/accounts/a/sessions/d%20") == "kickSession a d%20")
        #expect(find(.put, "/v1/accounts/a/devices/d%20") == "setDevice a d%20")
        #expect(find(.delete, "/v1/accounts/a/devices/d") == "clearDevice a d")
        #expect(find(.head, "/livez") == "getLiveness ")
    }

    @Test func `says which methods are allowed`() {
        #expect(find(.patch, "/v1/accounts/a/subscriptions") == "DELETE,GET,POST")
        #expect(find(.head, "/v1/states") == "POST")
        #expect(find(.post, "/v1/accounts/a/devices/d") == "DELETE,PUT")
        #expect(find(.put, "/v1/accounts/a/devices") == "GET")
    }

    @Test(arguments: [
        "", "//", "/v1", "/v1/states/", "//v1/states", "/v1/accounts/a", "/V1/states",
        "/v1/accounts/a/state/x", "/v1/accounts/a/b/state", "v1/states",
    ])
    func `finds nothing under other paths`(path: String) {
        #expect(find(.get, path) == "nothing")
    }

    @Test func `is decoded, or rejected`() {
        #expect(PercentEncoding.decode("a%2Fb+%C3%a9%00", plus: .literal) == "a/b+é\0")
        #expect(PercentEncoding.decode("a+b%2B", plus: .space) == "a b+")
        #expect(PercentEncoding.decode("é", plus: .literal) == "é")
        // A byte order mark is part of a name.
        #expect(PercentEncoding.decode("%EF%BB%BFa", plus: .literal) == "\u{FEFF}a")
        for text in ["%", "%2", "%2G", "%GG", "%C3", "%FF", "%ED%A0%80", "%٢٢", "a%a9", "%a9b"] {
            #expect(PercentEncoding.decode(text[...], plus: .literal) == nil, "\(text)")
        }
    }

    @Test func `has parameters in its query`() throws {
        let query = try QueryParameters("type=1&publisher=a&publisher=b%26c&&x&limit=")
        #expect(try query.one("type") == "1")
        #expect(query.all("publisher") == ["a", "b&c"])
        #expect(try query.one("x")?.isEmpty == true)
        #expect(try query.one("limit")?.isEmpty == true)
        #expect(try query.one("cursor") == nil)
        #expect(throws: HTTPError.self) { try query.one("publisher") }
        #expect(throws: HTTPError.self) { try QueryParameters("a=%ZZ") }
    }

    @Test(arguments: [
        "localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:7401", "[::1]:7401", "10.1.2.3", "",
        "[::ffff:1.2.3.4]", "localhost:",
    ])
    func `is for a local host`(authority: String) throws {
        #expect(try #require(HostName(Array(authority.utf8))).isLocal)
    }

    @Test(arguments: [
        "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "1.2.3", "127.1",
        "0x7f000001", "2130706433", "1.2.3.256", "+1.0.0.1", "localhost.", "a%20b", "abcd",
    ])
    func `is not for a local host`(authority: String) throws {
        #expect(try !#require(HostName(Array(authority.utf8))).isLocal)
    }

    @Test(arguments: [
        "[evil.com]", "[::1].evil.com", "[::1]evil.com:80", "[", "[]", "[::1", "[::1]:x", "::1",
        "[127.0.0.1]", "[::1%25lo]", "[v1.a]", "a b", "a/b", "a:b", "a:80:80", "a:65536", "a:+1",
        ":80", "user@a", "a%2", "a%zz", "a,b:80,c", "é", "a\u{0}", "a\"", "[::1]:123456",
    ])
    func `is for no host`(authority: String) {
        #expect(HostName(Array(authority.utf8)) == nil)
    }

    @Test(
        arguments: [
            ("Bearer KEY", "KEY"), ("bearer   KEY", "KEY"), ("BEARER KEY ", "KEY"),
            ("Bearer a b", "a b"),
            ("Bearer", nil), ("Basic KEY", nil), ("KEY", nil), ("", nil), ("Bearer\tKEY", nil),
        ] as [(String, String?)])
    func `has its key in a field`(field: String, key: String?) {
        #expect(BearerKey.key(in: Array(field.utf8)) == key.map { Array($0.utf8) })
    }

    @Test func `may write the media type in several ways`() {
        for type in ["application/json", "Application/JSON; charset=utf-8", " application/json ;"] {
            #expect(ContentType.isJSON(type), "\(type)")
        }
        for type in [nil, "", "text/json", "application/jsonp", "application/json x", "*/*"] {
            #expect(!ContentType.isJSON(type), "\(type ?? "-")")
        }
    }
}
