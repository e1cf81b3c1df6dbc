import PresenceWire
import Testing

@testable import PresenceCore

@Suite struct EnvelopeTests {
    @Test(
        arguments: [
            ("", .unknown), (#""id":null,"#, .unknown), (#""id":1.0,"#, .unknown),
            (#""id":1e4,"#, .unknown), (#""id":true,"#, .unknown), (#""id":[1],"#, .unknown),
            (#""id":{},"#, .unknown), (#""id":9223372036854775808,"#, .unknown),
            (#""id":1,"id":1,"#, .unknown), (#""id":1,"\u0069d":2,"#, .unknown),
            (#""id":0,"#, .integer(0)), (#""id":-0,"#, .integer(0)),
            (#""id":9223372036854775807,"#, .integer(.max)),
            (#""id":-9223372036854775808,"#, .integer(.min)),
            (#""id":"","#, .text([])), (#""id":"a\u0022é","#, .text(Array("a\"é".utf8))),
        ] as [(String, RequestID)])
    func `errors of the envelope are told to the id that can be made out`(
        member: String, id: RequestID
    ) {
        let decoded = Decoded(#"{\#(member)"jsonrpc":"1.0","method":"ping"}"#)
        #expect(decoded.envelopeError?.reason.code == -32_600)
        #expect(decoded.id == id)
    }

    @Test(
        arguments: [
            (#""id":1,"#, .integer(1)), (#""id":"x","#, .text([0x78])), ("", .none),
        ] as [(String, RequestID)])
    func `a request carries its id`(member: String, id: RequestID) {
        let decoded = Decoded(#"{"jsonrpc":"2.0",\#(member)"method":"ping"}"#)
        #expect(decoded.method == .command(.ping))
        #expect(decoded.id == id)
    }

    @Test(arguments: [(128, nil), (129, 128)] as [(Int, Int?)])
    func `a string as id has at most 128 bytes`(count: Int, limit: Int?) {
        let text = String(repeating: "é", count: count / 2) + (count % 2 == 1 ? "x" : "")
        let decoded = Decoded(#"{"jsonrpc":"2.0","id":"\#(text)","method":"ping"}"#)
        #expect(decoded.envelopeError?.limit == limit)
        #expect((decoded.method == .command(.ping)) == (limit == nil))
    }

    @Test func `a notification is not answered unless its envelope is invalid`() {
        let unknown = Decoded(#"{"jsonrpc":"2.0","method":"nonsense"}"#)
        #expect(unknown.id == .none)
        #expect(unknown.envelopeError == EnvelopeError(.unknownMethod, field: .method))
        let rejected = Decoded(#"{"jsonrpc":"2.0","method":"publish"}"#)
        #expect(rejected.id == .none)
        #expect(rejected.rejection == Rejection(.missingField, field: .type))
        #expect(Decoded(#"{"method":"ping"}"#).id == .unknown)
    }

    @Test(
        arguments: [
            ("{}", .jsonrpc), (#"{"jsonrpc":2.0,"method":"ping"}"#, .jsonrpc),
            (#"{"jsonrpc":"2.00","method":"ping"}"#, .jsonrpc), (#"{"jsonrpc":"2.0"}"#, .method),
            (#"{"jsonrpc":"2.0","method":1}"#, .method),
            (#"{"jsonrpc":"2.0","method":null}"#, .method),
        ] as [(String, EnvelopeError.Field)])
    func `what is no request says which member`(json: String, field: EnvelopeError.Field) {
        #expect(Decoded(json).envelopeError == EnvelopeError(.invalidRequest, field: field))
    }

    @Test(arguments: [
        "", "Ping", "ping ", "login\\u0000", "subscriptionsubscriptions", "events", "close",
        "rpc.x",
    ])
    func `unknown methods`(name: String) {
        let decoded = Decoded(#"{"jsonrpc":"2.0","id":3,"method":"\#(name)"}"#)
        #expect(decoded.envelopeError == EnvelopeError(.unknownMethod, field: .method))
        #expect(decoded.id == .integer(3))
    }

    @Test(
        arguments: [
            (#""jsonrpc":"2.0","method":"ping","m\u0065thod":"ping""#, .method),
            (#""jsonrpc":"2.0","jsonrpc":"2.0","method":"ping""#, .jsonrpc),
            (#""jsonrpc":"2.0","method":"ping","params":{},"params":{}"#, .params),
            (#""jsonrpc":"2.0","method":"ping","x":1,"\u0078":1"#, nil),
            (#""jsonrpc":"2.0","method":"ping","":1,"":1"#, nil),
        ] as [(String, EnvelopeError.Field?)])
    func `a member that stands twice`(members: String, field: EnvelopeError.Field?) {
        let decoded = Decoded("{\"id\":5,\(members)}")
        #expect(decoded.envelopeError == EnvelopeError(.duplicateField, field: field))
        #expect(decoded.id == .integer(5))
    }

    @Test(arguments: [
        "null", "[]", "[1]", "1", "true", "\"x\"", "1.5", "18446744073709551616",
    ])
    func `params that are no object`(params: String) {
        let decoded = Decoded.params("ping", params)
        #expect(decoded.rejection == Rejection(.wrongType, field: .params))
        #expect(decoded.id == .integer(7))
    }

    @Test func `unknown members are ignored, whatever they are`() {
        let decoded = Decoded(
            #"{"x":[{"a":1,"b":2}],"jsonrpc":"2.0","id":1,"method":"ping","params":{"#
                + #""y":{"type":"z"},"z":[[null,{"q":1.5}],99999999999999999999,1e999]}}"#)
        #expect(decoded.method == .command(.ping))
    }

    @Test(arguments: [63, 64, 65, 10_000])
    func `the members of an object are counted`(count: Int) {
        let many = (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",")
        let inner = Decoded.params("ping", "{\(many)}")
        let tooMany = Rejection(.tooMany, field: .params, limit: 64, count: count)
        #expect(inner.rejection == (count > 64 ? tooMany : nil))
        let outer = Decoded(#"{"jsonrpc":"2.0","id":1,"method":"ping",\#(many)}"#)
        let limit = EnvelopeError(.invalidRequest, limit: 64)
        #expect(outer.envelopeError == (count + 3 > 64 ? limit : nil))
        #expect(outer.id == .integer(1))
    }
}
