// Stream management (XEP-0198), without resumption: client and service tell each other how many
// stanzas they have.

internal import Containers
internal import XML

/// The counters of a stream whose client has enabled stream management. They begin at 0 and wrap.
public struct StreamManagement: Hashable, Sendable {
    /// Stanzas of the client that were handled.
    public private(set) var handled: UInt32 = 0
    /// Stanzas that the client was sent.
    public private(set) var sent: UInt32 = 0
    /// Those of them that the client has acknowledged.
    public private(set) var acknowledged: UInt32 = 0

    /// Counters of a stream that begins after these numbers of stanzas.
    init(handled: UInt32 = 0, sent: UInt32 = 0) {
        self.handled = handled
        self.sent = sent
        acknowledged = sent
    }

    /// A stanza of the client is handled.
    mutating func noteHandled() { handled &+= 1 }

    /// The client was sent stanzas.
    mutating func noteSent(_ count: Int) { sent &+= UInt32(truncatingIfNeeded: count) }

    /// The client says how many stanzas it has. Returns false if it was sent fewer.
    mutating func acknowledge(_ count: UInt32) -> Bool {
        guard count &- acknowledged <= sent &- acknowledged else { return false }
        acknowledged = count
        return true
    }

    /// Whether the client has acknowledged the stanza with this number, which was sent.
    public func isAcknowledged(_ number: UInt32) -> Bool {
        // What is not acknowledged lies between the two.
        sent &- number >= sent &- acknowledged
    }

    /// A number of stanzas as the client has written it.
    static func count(_ text: ArraySlice<UInt8>?) -> UInt32? {
        guard let text, 1...10 ~= text.count,
            text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return UInt32(String(decoding: text, as: UTF8.self))
    }
}

/// An element of stream management.
enum ManagementElement {
    case enable, resume, request
    /// The client says how many stanzas it has, or something else instead.
    case answer(count: UInt32?)
}

extension XMPPStream {
    /// Notes that the client was sent stanzas: those among these elements, as the service has
    /// written them.
    public mutating func noteSent(_ elements: Span<UInt8>) {
        // The end of the stream is no element.
        guard management != nil, phase != .ended else { return }
        management?.noteSent(StreamMessages.stanzaCount(in: elements))
    }

    /// The client may enable stream management once it is bound.
    mutating func read(_ element: ManagementElement) -> StreamInput {
        switch element {
        case .enable:
            guard phase == .bound, management == nil else {
                return reject(management: "unexpected-request")
            }
            output.append(literal: "<enabled xmlns='urn:xmpp:sm:3'/>")
            management = StreamManagement()
            return .managed
        // No stream can be resumed, so none is known.
        case .resume:
            return reject(management: phase == .bound ? "unexpected-request" : "item-not-found")
        case .request:
            guard let management else { return .output }
            output.append(literal: "<a xmlns='urn:xmpp:sm:3' h='")
            output.append(contentsOf: String(management.handled).utf8)
            output.append(literal: "'/>")
            return .output
        case .answer(let count):
            guard let sent = management?.sent else { return .output }
            guard let count else {
                return fail(StreamError(.badFormat, "`h` is a number from 0 to 4294967295."))
            }
            guard management?.acknowledge(count) == true else {
                return fail(.acknowledgedTooMany(count, sent: sent))
            }
            return .acknowledged
        }
    }

    private mutating func reject(management condition: StaticString) -> StreamInput {
        output.append(literal: "<failed xmlns='urn:xmpp:sm:3'><")
        output.append(literal: condition)
        output.append(literal: " xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>")
        return .output
    }
}

extension [UInt8] {
    /// Asks a client how many stanzas it has.
    public mutating func appendManagementRequest() {
        append(literal: "<r xmlns='urn:xmpp:sm:3'/>")
    }
}
