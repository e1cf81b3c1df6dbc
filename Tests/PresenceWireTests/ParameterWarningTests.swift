import PresenceCore
import Testing

@testable import PresenceWire

/// What is said of members that a method does not know.
@Suite struct `Members that are not known` {
    private func warnings(_ method: String, _ params: String) -> [ParameterWarning]? {
        try? Decoded.params(method, params).result.get().warnings
    }

    private func warning(_ field: String, _ suggestion: Rejection.Field) -> ParameterWarning {
        ParameterWarning(field: Array(field.utf8), suggestion: suggestion)
    }

    @Test(
        arguments: [
            ("validTime", .expiry), ("ttl", .expiry), ("time_to_live", .expiry),
            ("duration", .expiry), ("timeout", .expiry), ("Expiry", .expiry), ("EXPIRY", .expiry),
            ("expires", .expiry), ("expirey", .expiry), ("exipry", .expiry), ("valeu", .value),
            ("exts", .ext), ("only_online", nil), ("only_Online", nil), ("onlineonly", .onlineOnly),
            ("online_only", .onlineOnly), ("x", nil), ("xy", nil), ("tpye", .type), ("", nil),
            ("newMember", nil), ("text", .ext), ("body", nil), ("publisher", nil),
            ("onlineOnlyonlineOnly", nil),
        ] as [(String, Rejection.Field?)])
    func `have a suggestion if a parameter is similar`(name: String, field: Rejection.Field?) {
        let found = warnings("publish", #"{"type":1,"value":10000,"\#(name)":[{"a":1}]}"#)
        #expect(found == (field.map { [warning(name, $0)] } ?? []))
    }

    @Test(
        arguments: [
            ("query", #""type":1,"accounts":["a"],"accids":[]"#, "accids", .accounts),
            ("send", #""accounts":["a"],"body":"x","text":"y""#, "text", .body),
            ("subscriptions", #""publisher":"a""#, "publisher", .publishers),
            (
                "subscribers", #""type":1,"publisher":"a","publishers":["a"]"#, "publishers",
                .publisher
            ),
            (
                "login", #""account":"a","device":"d","pushreachable":true"#, "pushreachable",
                .pushReachable
            ),
            ("unsubscribe", #""type":1,"ttl":1"#, "ttl", nil), ("ping", #""time":1"#, "time", nil),
        ] as [(String, String, String, Rejection.Field?)])
    func `are those of their method`(
        method: String, members: String, name: String, field: Rejection.Field?
    ) {
        #expect(warnings(method, "{\(members)}") == (field.map { [warning(name, $0)] } ?? []))
    }

    @Test func `are reported for a few only, and forgotten with the next request`() {
        var decoder = RequestDecoder()
        let many = (0..<20).map { #""type\#($0)":1"# }.joined(separator: ",")
        let first = Array(
            #"{"jsonrpc":"2.0","id":1,"method":"clear","params":{"type":1,\#(many)}}"#.utf8)
        _ = decoder.decode(first.span.bytes)
        #expect(decoder.warnings == (0..<4).map { warning("type\($0)", .type) })
        let second = Array(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#.utf8)
        guard case .success(let request) = decoder.decode(second.span.bytes) else {
            Issue.record("not decoded")
            return
        }
        #expect(decoder.warnings.isEmpty && request.warnings.isEmpty)
        #expect(request.answered == .integer(1))
    }

    @Test func `are ignored in a request that needs no response`() throws {
        let json =
            #"{"jsonrpc":"2.0","method":"publish","params":{"type":1,"value":10000,"ttl":1}}"#
        let request = try Decoded(json).result.get()
        #expect(request.answered == .none)
    }

    @Test func `are those of a call's body`() throws {
        var decoder = RequestDecoder()
        var call = MethodCall(.publish)
        call.arguments = [.init(.account, .text("bob")), .init(.type, .integer(1))]
        call.body = Array(#"{"value":10000,"ttl":60,"account":"a","x":1,"typ":1}"#.utf8)
        call.bodyMembers = [.value, .expiry, .ext, .onlineOnly, .sync]
        _ = try decoder.decode(call)
        #expect(decoder.warnings == [warning("ttl", .expiry)])
        call.body = Array(#"{"value":10000,"expiry":60}"#.utf8)
        _ = try decoder.decode(call)
        #expect(decoder.warnings.isEmpty)
    }

    @Test func `are in the result`() {
        func response(_ warnings: [ParameterWarning], _ answer: Answer) -> String? {
            body {
                _ = $0.appendAnswerBody(
                    answer, to: .warned(.integer(7), warnings), in: Effects(),
                    settings: Settings())
            }
        }
        let sentence = "This member is not known here and was ignored; did you mean `expiry`?"
        let json =
            #"[{"field":"ttl","suggestion":"expiry","message":"\#(sentence)"},"#
            + #"{"field":"expiry\"","suggestion":"expiry","message":"\#(sentence)"}]"#
        let both = [warning("ttl", .expiry), warning("expiry\"", .expiry)]
        #expect(
            response(both, .cleared(.status))
                == #"{"jsonrpc":"2.0","id":7,"result":{"cleared":true,"warnings":\#(json)}}"#)
        #expect(
            response(both, .done)
                == #"{"jsonrpc":"2.0","id":7,"result":{"warnings":\#(json)}}"#)
        let replaced = body {
            $0.appendResponse(to: .warned(.text(Array("a".utf8)), both)) {
                $0.appendResult(.passwordSet(replaced: false), in: Effects())
            }
        }
        #expect(
            replaced
                == #"{"jsonrpc":"2.0","id":"a","result":{"replaced":false,"warnings":\#(json)}}"#)
    }

    /// Requests whose members together are all parameters of their methods.
    private static let requests: [(MethodName, [String])] = [
        (
            .login,
            [
                #""token":"t","client":"ios","device":"d","pushReachable":true,"sync":"all""#,
                #""key":"k","contacts":true,"messages":true"#,
                #""account":"a","password":"p","device":"d""#,
            ]
        ),
        (.refresh, [#""token":"t""#]), (.logout, [""]), (.ping, [""]), (.stats, [""]),
        (.metrics, [""]),
        (
            .subscribe,
            [#""account":"a","type":1,"expiry":60,"publishers":["a"],"sync":true"#]
        ),
        (.unsubscribe, [#""account":"a","type":1,"publishers":["a"]"#]),
        (
            .subscriptions,
            [#""account":"a","type":1,"publishers":["a"],"cursor":"0000000000001","limit":1"#]
        ),
        (
            .publish,
            [
                #""account":"a","type":1,"value":10000,"expiry":60,"ext":"","onlineOnly":true,"#
                    + #""sync":true"#
            ]
        ),
        (.clear, [#""account":"a","type":1"#]),
        (
            .relate,
            [
                #""account":"a","contact":"b","action":"remove","text":"","name":"n","#
                    + #""groups":["g"]"#
            ]
        ),
        (.contacts, [#""account":"a","cursor":"0000000000001","limit":1"#]),
        (.setVisibility, [#""account":"a","visibility":"open""#]),
        (.setAvailability, [#""show":"away","priority":1,"text":"t""#]),
        (
            .send,
            [
                #""account":"a","accounts":["b"],"device":"d","body":"x","ext":"y","ref":"r","#
                    + #""expiry":60"#,
                #""aliases":["a"],"receipt":"r""#,
                #""tags":["a"],"tagsAll":["b"],"tagsNot":["c"],"body":"x""#,
            ]
        ),
        (.take, [#""id":"0000000000001""#]), (.discard, [#""account":"a","from":"b""#]),
        (
            .setDevice,
            [
                #""account":"a","device":"d","alias":"a","tags":["t"],"pushAddress":"p","#
                    + #""ifPushAddress":"q""#
            ]
        ),
        (.devices, [#""account":"a""#]), (.query, [#""type":1,"accounts":["a"]"#]),
        (
            .subscribers,
            [#""type":1,"publisher":"a","cursor":"0000000000001","limit":1"#]
        ),
        (.sessions, [#""account":"a""#]),
        (.kick, [#""account":"a","device":"d","reason":"r""#]),
        (.setPassword, [#""account":"a","password":"p""#]),
        (.removePassword, [#""account":"a""#]),
        (.why, [#""subscriber":"a","publisher":"b","type":1"#]), (.top, [#""limit":1"#]),
        (.feed, [#""cursor":"x""#, #""from":"now""#]), (.undelivered, [#""cursor":"x""#]),
    ]

    @Test func `are none of the parameters of any method`() {
        let methods = Self.requests.map(\.0.rawValue)
        #expect(methods.sorted() == MethodName.allCases.map(\.rawValue).sorted())
        for (method, all) in Self.requests {
            var names: Set<String> = []
            for members in all {
                var decoder = RequestDecoder()
                let json = Array(
                    #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(members)}}"#.utf8)
                guard case .success = decoder.decode(json.span.bytes) else {
                    Issue.record("\(method) \(members)")
                    continue
                }
                let params = decoder.params
                #expect(params.areAllFound, "\(method) \(members)")
                let found = method.parameters.filter { params[Word($0.rawValue)] != nil }
                #expect(found.count == params.count, "\(method) \(members)")
                names.formUnion(found.map(\.rawValue))
            }
            #expect(names == Set(method.parameters.map(\.rawValue)), "\(method)")
        }
    }
}
