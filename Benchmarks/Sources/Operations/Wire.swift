import PresenceCore
import PresenceWire

extension Operation {
    /// Bytes to requests, events to bytes.
    static let wire: [Operation] = [
        Operation("wire: decode a ping") { decode(#""method":"ping","params":{}"#) },
        Operation("wire: decode a publish") {
            decode(#""method":"publish","params":{"type":1,"value":10001,"ext":"in a meeting"}"#)
        },
        Operation("wire: decode a subscribe to 100") {
            let names = (0..<100).map { "\"publisher-\($0)\"" }.joined(separator: ",")
            return decode(
                #""method":"subscribe","params":{"type":1,"expiry":60,"publishers":["#
                    + names + "]}")
        },
        Operation("wire: encode an event") {
            var world = Population(watchers: 1)
            let effects = world.publishedEffects()
            var body: [UInt8] = []
            return Work {
                body.removeAll(keepingCapacity: true)
                body.appendEventBody(effects.events[0], in: effects)
            }
        },
    ]

    private static func decode(_ rest: String) -> Work {
        var decoder = RequestDecoder()
        let body = Array((#"{"jsonrpc":"2.0","id":1,"# + rest + "}").utf8)
        return Work {
            if case .failure(let fault) = decoder.decode(body.span.bytes) {
                preconditionFailure("rejected: \(fault)")
            }
        }
    }
}
