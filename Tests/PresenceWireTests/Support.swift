import PresenceWire

@testable import PresenceCore

/// What a decoder made of a body, with its texts spelled out.
struct Decoded {
    var result: Result<Request, RequestError>
    var names: [String]
    private var text: (ByteRange) -> String

    init(_ body: [UInt8], limits: Limits = Limits()) {
        var decoder = RequestDecoder(limits: limits)
        result = decoder.decode(body.span.bytes)
        names = decoder.names.map { String(decoding: decoder.bytes($0), as: UTF8.self) }
        let all = decoder.bytes(ByteRange(start: 0, count: Int32(limits.frameBytesMax)))
        text = { String(decoding: all[Int($0.start)..<Int($0.start + $0.count)], as: UTF8.self) }
    }

    init(_ json: String, limits: Limits = Limits()) {
        self.init(Array(json.utf8), limits: limits)
    }

    /// The parameters of this method in a request with the id 7.
    static func params(_ method: String, _ params: String, limits: Limits = Limits()) -> Self {
        Decoded(
            #"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":\#(params)}"#, limits: limits)
    }

    var id: RequestID {
        switch result {
        case .success(let request): request.id
        case .failure(let error): error.id
        }
    }

    var method: Method? { try? result.get().method }

    var rejection: Rejection? {
        guard case .failure(let error) = result, case .rejected(let rejection) = error.cause else {
            return nil
        }
        return rejection
    }

    var envelopeError: EnvelopeError? {
        guard case .failure(let error) = result, case .envelope(let envelope) = error.cause
        else { return nil }
        return envelope
    }

    func string(_ range: ByteRange?) -> String? { range.map(text) }
}

/// Builds effects by hand.
struct Fixture {
    var effects = Effects()

    mutating func text(_ text: String) -> ByteRange {
        let start = effects.bytes.count
        effects.bytes += Array(text.utf8)
        return ByteRange(start: Int32(start), count: Int32(text.utf8.count))
    }

    mutating func devices(_ devices: [(ClientKind, String, Reach)]) -> Range<Int> {
        let start = effects.devices.count
        for (client, name, reach) in devices {
            effects.devices.append(DeviceEntry(client: client, name: text(name), reach: reach))
        }
        return start..<effects.devices.count
    }

    /// A state of which nothing is known, to be changed by the test.
    mutating func event(_ publisher: String, type: UInt16 = 1) -> Event {
        Event(
            type: EventType(number: type), publisher: text(publisher), value: 0, cause: .sync,
            seq: 0, time: Wall(milliseconds: 0), origin: nil, ext: nil, online: nil,
            status: nil, lastSeen: nil)
    }
}

/// The body that `append` appends; nil if there is none.
func body(_ append: (inout [UInt8]) -> Void) -> String? {
    var bytes: [UInt8] = []
    append(&bytes)
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
}

/// The bodies of `list`, each of which `append` appends and returns what is left of the list.
func bodies(
    of list: Range<Int>, _ append: (inout [UInt8], Range<Int>) -> Range<Int>
) -> [String] {
    var bodies: [String] = []
    var rest = list
    while !rest.isEmpty {
        var bytes: [UInt8] = []
        rest = append(&bytes, rest)
        bodies.append(String(decoding: bytes, as: UTF8.self))
    }
    return bodies
}
