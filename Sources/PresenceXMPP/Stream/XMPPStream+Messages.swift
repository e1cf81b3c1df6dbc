// A stream whose elements are messages of a WebSocket (RFC 7395). `<open/>` and `<close/>` are what
// the header and the end of a stream are over TCP; all else is the same.
//
// What the stream and the service write is the same for both framings, too: elements one after the
// other, as within `<stream:stream>`. `nextElement` takes them apart, and `appendMessage` declares
// what that header would have declared. So TCP, which most clients use, pays nothing for it.

internal import Containers
internal import XML

extension XMPPStream {
    /// The most bytes of the next message.
    public func messageBytesMax(of service: StreamService) -> Int { bytesMax(of: service) }

    /// Reads a message. No question may be unanswered.
    public mutating func read(
        message: RawSpan, of service: StreamService,
        using random: inout some RandomNumberGenerator
    ) -> StreamInput {
        precondition(framing == .messages && !awaitsAnswer, "a message that is not due")
        guard phase != .ended else { return .needMore }
        let settings = service.settings
        do throws(XMLError) {
            let element = try service.reader.readMessage(message, bytesMax: bytesMax(of: service))
            // A declaration begins a stream.
            let isOpen = element.isNamed("open", in: Namespace.framing)
            guard isOpen || !XMLReader.hasDeclaration(message) else { throw .restricted }
            return read(message: element, service, using: &random)
        } catch {
            let reason = error == .secondHeader ? Self.notOpened : StreamError(of: error)
            return fail(reason, settings, using: &random)
        }
    }

    private mutating func read(
        message element: XMLElement, _ service: StreamService,
        using random: inout some RandomNumberGenerator
    ) -> StreamInput {
        let settings = service.settings
        if element.isNamed("close", in: Namespace.framing) { return end() }
        if element.isNamed("open", in: Namespace.framing) {
            return open(with: element, settings, using: &random)
        }
        guard !element.namespace.isEmpty else {
            let text = "Each message declares its namespace; that of stanzas is jabber:client."
            return fail(StreamError(.invalidNamespace, text), settings, using: &random)
        }
        guard isOpened else { return fail(Self.notOpened, settings, using: &random) }
        return read(element, service, using: &random)
    }

    private mutating func open(
        with element: XMLElement, _ settings: StreamSettings,
        using random: inout some RandomNumberGenerator
    ) -> StreamInput {
        guard !isOpened else { return fail(Self.openedTwice) }
        let known = answer(to: element, settings, using: &random)
        // There is no STARTTLS: TLS is of the connection.
        guard phase != .clear || settings.allowsPlaintext else { return fail(Self.notEncrypted) }
        return negotiate(element, at: known, settings)
    }

    private static let notOpened = StreamError(
        .badFormat, "Begin with <open xmlns='urn:ietf:params:xml:ns:xmpp-framing'/>.")
    private static let openedTwice = StreamError(
        .badFormat, "<open/> is sent only at the beginning and after the login.")
    private static let notEncrypted = StreamError(
        .policyViolation, "The connection is not encrypted: connect by wss, which is over TLS.")
}

/// Elements as the service writes them, as messages of a WebSocket.
public enum StreamMessages {
    /// The next element; nil: there is no more.
    public static func nextElement(
        in bytes: Span<UInt8>, from offset: inout Int
    ) -> Range<Int>? {
        let start = offset
        guard start < bytes.count else { return nil }
        var finder = StanzaBoundaryFinder.behindHeader
        let end = unsafe finder.next(in: bytes.bytes, from: &offset, bytesMax: bytes.count)
        guard end == .stanza else {
            // A client rejects it, as it would in a stream.
            assertionFailure("the service has written no element")
            offset = bytes.count
            return start..<offset
        }
        return start..<offset
    }

    /// How many of the elements are stanzas.
    static func stanzaCount(in bytes: Span<UInt8>) -> Int {
        var count = 0
        var offset = 0
        while let element = nextElement(in: bytes, from: &offset) {
            let bytes = bytes.extracting(element)
            if isStanza(bytes.extracting(..<nameEnd(of: bytes))) { count += 1 }
        }
        return count
    }

    /// The end of the name in the tag that an element begins with.
    fileprivate static func nameEnd(of element: Span<UInt8>) -> Int {
        var end = 0
        while end < element.count, !endsName(element[end]) { end += 1 }
        return end
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">")
    }

    /// Whether this begins the tag of a stanza. All else declares its namespace anywhere.
    fileprivate static func isStanza(_ start: Span<UInt8>) -> Bool {
        let names: [StaticString] = ["<presence", "<message", "<iq"]
        return names.contains { $0.utf8CodeUnitCount == start.count && has($0, start) }
    }

    fileprivate static func has(_ prefix: StaticString, _ bytes: Span<UInt8>) -> Bool {
        guard prefix.utf8CodeUnitCount <= bytes.count else { return false }
        return (0..<prefix.utf8CodeUnitCount).allSatisfy {
            unsafe bytes[$0] == prefix.utf8Start[$0]
        }
    }
}

extension [UInt8] {
    /// Appends an element that the service has written, with the namespaces that the header of a
    /// stream would declare.
    public mutating func appendMessage(_ element: Span<UInt8>) {
        let nameEnd = StreamMessages.nameEnd(of: element)
        append(element.extracting(..<nameEnd))
        if StreamMessages.isStanza(element.extracting(..<nameEnd)) {
            append(literal: " xmlns='jabber:client'")
        } else if StreamMessages.has("<stream:", element) {
            append(literal: " xmlns:stream='http://etherx.jabber.org/streams'")
        }
        append(element.extracting(nameEnd...))
    }
}
