/// What an input is for: each has a corpus of its own.
enum FuzzTarget: String, CaseIterable, Sendable {
    case frames, websockets, requests, tls, xml, sasl, streams, stanzas, engine

    /// Runs one input, which ends the process if something is wrong.
    func run(_ bytes: [UInt8]) {
        switch self {
        case .frames: fuzzFrames(bytes)
        case .websockets: fuzzWebSockets(bytes)
        case .requests: fuzzRequests(bytes)
        case .tls: fuzzTLS(bytes)
        case .xml: fuzzXML(bytes)
        case .sasl: fuzzSASL(bytes)
        case .streams: fuzzStreams(bytes)
        case .stanzas: fuzzStanzas(bytes)
        case .engine: fuzzEngine(bytes)
        }
    }
}
