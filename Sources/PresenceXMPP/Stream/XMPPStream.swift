// The stream of one XMPP client: bytes in; stanzas, questions and bytes out. It knows neither
// sockets nor the engine nor the time.
//
// What needs a decision from elsewhere is a question (`StreamInput.authenticate`, `.register`,
// `.bind`). Until the answer, which is a call of a method, the stream keeps what arrives and reads
// nothing: one thing at a time, in order. An answer that arrives after the stream has ended is
// ignored.

internal import Passwords
internal import XML

/// The negotiation and the stanzas of one client (RFC 6120).
public struct XMPPStream: Sendable {
    /// The failures after which a stream is closed: of authentication, and then of bind.
    public static let failuresMax = 3

    /// What marks where its elements begin and end.
    public let framing: StreamFraming
    /// The phase of the negotiation.
    public internal(set) var phase: StreamPhase
    /// Bytes for the client.
    public internal(set) var output: [UInt8] = []
    /// The domain that the client has named.
    public internal(set) var domain: [UInt8] = []
    /// The language of the client's texts; empty: not known.
    public internal(set) var language: [UInt8] = []
    /// The account, once it is authenticated.
    public internal(set) var account: [UInt8] = []
    /// The device, which is the resource of the client's JID, once it is bound.
    public internal(set) var device: [UInt8] = []
    /// What is counted of stanzas; nil: the client has not enabled that.
    public internal(set) var management: StreamManagement?

    var splitter = StanzaSplitter()
    var scope = StreamScope.standard
    /// What is in progress; it has memory of its own only while it is.
    var pending = Pending.nothing
    var failures: UInt8 = 0
    /// Whether our header was written, so that errors have a place.
    var isOpened = false
    /// Whether the client has spoken XMPP on this connection already, before STARTTLS.
    var isRepeated = false

    /// A step of the negotiation that is not complete.
    indirect enum Pending: Sendable {
        case nothing
        /// `<auth>` had no data: the client sends them in a response.
        case initialResponse(SASLMechanism)
        /// Sent to a client of SCRAM.
        case challenge(ScramChallenge, account: [UInt8])
        // Questions.
        case password(account: [UInt8])
        case keys(ScramRequest, ScramHash, account: [UInt8])
        /// The last message of SCRAM; nil: the proof is wrong.
        case proof(account: [UInt8], final: [UInt8]?)
        case registration(id: [UInt8]?, Password.Remark?)
        case bind(id: [UInt8]?, device: [UInt8])
        /// `<proceed/>` was said: what arrives without encryption is dropped.
        case encryption
    }

    /// A stream of which nothing has arrived.
    public init(isEncrypted: Bool, framing: StreamFraming = .stream) {
        self.framing = framing
        phase = isEncrypted ? .secured : .clear
    }

    /// Whether a question is not answered yet.
    public var awaitsAnswer: Bool {
        switch pending {
        case .nothing, .initialResponse, .challenge: false
        case .password, .keys, .proof, .registration, .bind, .encryption: true
        }
    }

    private var isBetweenEncryptions: Bool {
        if case .encryption = pending { true } else { false }
    }

    /// The client, once it is bound.
    public var client: StanzaSender {
        StanzaSender(account: account, device: device, domain: domain, language: language)
    }

    /// Bytes that have arrived and were not read yet.
    public var bytesBuffered: Int { splitter.bytesBuffered }

    /// Whether a stanza has begun that is not complete.
    public var isInPart: Bool { splitter.isInPart }

    /// Returns the bytes for the client, and forgets them.
    public mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Reads what comes next, and advances `offset` past it.
    ///
    /// Call it until it needs more, has a question, or has ended. After an answer, call it again,
    /// with an empty chunk if nothing has arrived.
    public mutating func next(
        in chunk: RawSpan, from offset: inout Int, of service: StreamService,
        using random: inout some RandomNumberGenerator
    ) -> StreamInput {
        if phase == .ended || isBetweenEncryptions {
            offset = chunk.byteCount
            return .needMore
        }
        if awaitsAnswer {
            splitter.keep(chunk, from: &offset)
            return .needMore
        }
        // Not copied for a stanza, which needs none of them.
        var settings: StreamSettings { service.settings }
        let start = offset
        // Of the connection, before any header: a part of one may begin like another protocol.
        let isBeginning =
            !isOpened && domain.isEmpty && !isRepeated && bytesBuffered == 0 && !isInPart
        switch splitter.next(in: chunk, from: &offset, bytesMax: bytesMax(of: service)) {
        case .needMore: return .needMore
        case .whiteSpace: return .keepAlive
        case .streamEnd: return end()
        case .rejected(let error):
            let rejected = chunk.extracting(start..<chunk.byteCount)
            if isBeginning, let other = ForeignProtocol(rejected) {
                return fail(other, settings, using: &random)
            }
            return fail(StreamError(of: error), settings, using: &random)
        case .header(let part):
            do throws(XMLError) {
                let header = try splitter.withBytes(of: part, in: chunk) {
                    (bytes) throws(XMLError) in try service.reader.readHeader(bytes)
                }
                return open(with: header, settings, using: &random)
            } catch { return fail(StreamError(of: error), settings, using: &random) }
        case .stanza(let part):
            do throws(XMLError) {
                let element = try splitter.withBytes(of: part, in: chunk) {
                    (bytes) throws(XMLError) in try service.reader.readStanza(bytes, in: scope)
                }
                splitter.forgetIfReturned()
                let input = read(element, service, using: &random)
                if case .startTLS = input { offset = chunk.byteCount }
                return input
            } catch { return fail(StreamError(of: error), settings, using: &random) }
        }
    }

    /// The most bytes of a stanza now.
    func bytesMax(of service: StreamService) -> Int {
        let isLoggedIn = phase == .authenticated || phase == .bound
        return isLoggedIn ? service.settings.bytesMax : service.settings.bytesMaxBeforeLogin
    }

    /// Closes the stream: the output says why, and nothing is read any more.
    public mutating func close(
        _ error: StreamError, of service: StreamService,
        using random: inout some RandomNumberGenerator
    ) {
        guard phase != .ended else { return }
        _ = fail(error, service.settings, using: &random)
    }

    /// Keeps the rest of the chunk, because the owner pauses here.
    public mutating func keep(_ chunk: RawSpan, from offset: inout Int) {
        guard phase != .ended, !isBetweenEncryptions else {
            offset = chunk.byteCount
            return
        }
        splitter.keep(chunk, from: &offset)
    }

    // MARK: - Ending

    /// An error has a header before it, even if the client's was not understood.
    mutating func fail(
        _ error: StreamError, _ settings: StreamSettings,
        using random: inout some RandomNumberGenerator
    ) -> StreamInput {
        if !isOpened {
            let domain = domain.isEmpty ? settings.domains[0] : domain
            answerHeader(domain: domain, to: nil as [UInt8]?, using: &random)
        }
        return fail(error)
    }

    /// The client does not speak XMPP. One that speaks HTTP is answered in HTTP.
    private mutating func fail(
        _ other: ForeignProtocol, _ settings: StreamSettings,
        using random: inout some RandomNumberGenerator
    ) -> StreamInput {
        let error = StreamError(.notWellFormed, other.sentence)
        guard other == .http else { return fail(error, settings, using: &random) }
        output += Array(
            """
            HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
            Content-Length: \(error.text.utf8.count + 1)\r\nConnection: close\r\n\r\n\
            \(error.text)\n
            """.utf8)
        forget()
        return .error(error)
    }

    /// Ends a stream that is open.
    mutating func fail(_ error: StreamError) -> StreamInput {
        output.append(error, in: framing)
        forget()
        return .error(error)
    }

    mutating func end() -> StreamInput {
        output.appendStreamEnd(in: framing)
        forget()
        return .end
    }

    private mutating func forget() {
        phase = .ended
        pending = .nothing
        splitter = StanzaSplitter()
    }

    // MARK: - Headers

    mutating func answerHeader(
        domain: [UInt8], to client: (some Collection<UInt8>)?,
        using random: inout some RandomNumberGenerator
    ) {
        precondition(!isOpened, "a second header")
        isOpened = true
        output.appendHeader(
            in: framing, id: StreamName.random(24, using: &random), domain: domain, to: client)
    }

    /// Answers the client's header with ours and with the features.
    private mutating func open(
        with header: XMLHeader, _ settings: StreamSettings,
        using random: inout some RandomNumberGenerator
    ) -> StreamInput {
        let element = header.element
        let known = answer(to: element, settings, using: &random)
        guard element.namespace.isEqual(to: Namespace.streams) else {
            return fail(StreamError(.invalidNamespace))
        }
        guard element.name.isEqual(to: "stream") else { return fail(StreamError(.badFormat)) }
        guard header.contentNamespace.isEqual(to: Namespace.client) else {
            return fail(StreamError(.invalidNamespace))
        }
        scope = header.scope
        return negotiate(element, at: known, settings)
    }

    /// Answers the element that opens a stream. Returns the domain that it names.
    mutating func answer(
        to element: XMLElement, _ settings: StreamSettings,
        using random: inout some RandomNumberGenerator
    ) -> [UInt8]? {
        let named = element.attribute("to")
        let known = named.map { settings.domain($0) } ?? settings.domains[0]
        answerHeader(
            domain: known ?? settings.domains[0], to: element.attribute("from"), using: &random)
        return known
    }

    /// Says what can be done in a stream that an element has opened, at this domain.
    mutating func negotiate(
        _ element: XMLElement, at known: [UInt8]?, _ settings: StreamSettings
    ) -> StreamInput {
        guard let known, domain.isEmpty || known == domain else { return fail(.otherDomain) }
        guard Self.isVersionKnown(element.attribute("version")) else {
            return fail(StreamError(.unsupportedVersion))
        }
        domain = known
        language = Self.language(element.attribute("lang", in: Namespace.xml))
        output.appendFeatures(in: phase, framing, settings)
        return .output
    }

    /// A tag of BCP 47, as far as its form goes.
    private static func language(_ tag: ArraySlice<UInt8>?) -> [UInt8] {
        guard let tag, tag.count <= languageBytesMax else { return [] }
        let isTag = tag.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isTag ? Array(tag) : []
    }

    private static let languageBytesMax = 35

    /// Whether a version is 1.0 or later. Without one it is the protocol before RFC 3920.
    private static func isVersionKnown(_ version: ArraySlice<UInt8>?) -> Bool {
        let parts = version?.split(
            separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let parts, parts.count == 2 else { return false }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return parts.allSatisfy { part in
            (1...9).contains(part.count) && part.allSatisfy(digits.contains)
        } && parts[0].contains { $0 != UInt8(ascii: "0") }
    }
}
