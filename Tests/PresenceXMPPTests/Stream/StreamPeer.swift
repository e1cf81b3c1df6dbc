import Containers
import Passwords
import XML

@testable import PresenceXMPP

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
func base64(_ text: String) -> String {
    String(decoding: Base64.encoded(bytes(text)), as: UTF8.self)
}

/// A stream and what is around it: answers its questions, and writes down what it hears and says.
struct StreamPeer {
    /// The accounts, all with the password `pencil`, and those that were registered.
    var accounts: Set<String> = ["alice", "1024"]
    /// Whether questions are answered at once.
    var answers = true
    /// Whether the rest of a chunk is kept after each stanza.
    var pauses = false
    var stream: XMPPStream
    let service: StreamService
    var random = SplitMix64(seed: 1)
    /// What was heard, and after each of them what was said, without keep-alives.
    private(set) var log: [String] = []
    /// All bytes for the client.
    private(set) var outputBytes: [UInt8] = []
    private(set) var isEnded = false
    private(set) var keepAlives = 0
    private var waiting: ((inout StreamPeer) -> Void)?

    static let keys: StoredKeys = {
        guard let password = try? Password(bytes("pencil")) else { preconditionFailure() }
        var random = SplitMix64(seed: 9)
        return StoredKeys(of: password, iterations: 4, using: &random)
    }()

    init(
        isEncrypted: Bool = true, framing: StreamFraming = .stream,
        _ change: (inout StreamSettings) -> Void = { _ in }
    ) {
        var settings = StreamSettings(
            domains: [bytes("example.org"), bytes("192.168.1.1"), bytes("[::1]")],
            offersTLS: true, mechanisms: SASLMechanism.allCases)
        change(&settings)
        service = StreamService(settings, hashSalt: 1)
        stream = XMPPStream(isEncrypted: isEncrypted, framing: framing)
    }

    /// Gives the stream a chunk; returns what it said.
    @discardableResult
    mutating func receive(_ chunk: some Sequence<UInt8>) -> String {
        let chunk = Array(chunk)
        let before = outputBytes.count
        var span = chunk.span.bytes
        var offset = 0
        while true {
            let heard = stream.next(in: span, from: &offset, of: service, using: &random)
            if case .needMore = heard { break }
            if case .keepAlive = heard { keepAlives += 1 } else { note(heard) }
            guard pauses else { continue }
            stream.keep(span, from: &offset)
            precondition(offset == span.byteCount, "bytes are left over")
            span = RawSpan()
            offset = 0
        }
        precondition(offset == span.byteCount, "bytes are left over")
        return text(outputBytes[before...])
    }

    @discardableResult
    mutating func receive(_ text: String) -> String { receive(Array(text.utf8)) }

    /// Gives a stream of messages one of them; returns the messages that it said.
    @discardableResult
    mutating func read(message: some Sequence<UInt8>) -> [String] {
        let message = Array(message)
        let before = outputBytes.count
        let heard = unsafe stream.read(
            message: message.span.bytes, of: service, using: &random)
        if case .needMore = heard {} else { note(heard) }
        return messages(outputBytes[before...])
    }

    @discardableResult
    mutating func read(_ message: String) -> [String] { read(message: Array(message.utf8)) }

    /// What was said, as messages of a WebSocket.
    func messages(_ said: some Sequence<UInt8>) -> [String] {
        let said = Array(said)
        var messages: [String] = []
        var offset = 0
        while let element = StreamMessages.nextElement(in: said.span, from: &offset) {
            var message: [UInt8] = []
            message.appendMessage(said.span.extracting(element))
            messages.append(text(message))
        }
        return messages
    }

    var output: String { text(outputBytes) }

    /// Whether a question waits for `answerNow`.
    var isAsked: Bool { waiting != nil }

    /// Answers the question that waits, and goes on with what has arrived.
    mutating func answerNow() {
        guard let question = waiting else { return }
        waiting = nil
        question(&self)
        takeOutput()
        if !answers { receive("") }
    }

    private mutating func note(_ heard: StreamInput) {
        log.append(Self.name(heard))
        takeOutput()
        let answer: ((inout StreamPeer) -> Void)? =
            switch heard {
            case .authenticate(let question): { $0.answer(question) }
            case .register(let name, _): { $0.answerRegistration(of: text(name)) }
            case .bind: { $0.stream.bound() }
            default: nil
            }
        switch heard {
        case .end, .error, .denied(_, _?): isEnded = true
        default: break
        }
        waiting = answer
        if answers { answerNow() }
    }

    private mutating func answerRegistration(of name: String) {
        if accounts.insert(name).inserted {
            stream.registered()
        } else {
            stream.reject(registration: StanzaError(.cancel, .conflict))
        }
    }

    private mutating func answer(_ question: Authentication) {
        switch question {
        case .password(let name, let secret):
            if accounts.contains(text(name)), text(secret) == "pencil" {
                stream.authenticated()
            } else if case .denied(_, let fault?) = stream.reject(.notAuthorized) {
                log.append("error \(fault.condition.rawValue)")
                isEnded = true
            }
        case .proof(_, _, let isRight):
            if isRight {
                stream.authenticated()
            } else if case .denied(_, let fault?) = stream.reject(.notAuthorized) {
                log.append("error \(fault.condition.rawValue)")
                isEnded = true
            }
        case .keys(let name):
            let decoy = StoredKeys(decoyFor: name, secret: [1, 2, 3])
            stream.challenge(
                with: accounts.contains(text(name)) ? Self.keys : decoy, using: &random)
        }
    }

    mutating func takeOutput() {
        let said = stream.takeOutput()
        guard !said.isEmpty else { return }
        log.append(text(said))
        outputBytes += said
    }

    private static func name(_ heard: StreamInput) -> String {
        switch heard {
        case .needMore: "needMore"
        case .keepAlive: "keepAlive"
        case .output: "say"
        case .startTLS: "startTLS"
        case .authenticate(.password(let name, let secret)):
            "password \(text(name)) \(text(secret))"
        case .authenticate(.keys(let name)): "keys \(text(name))"
        case .authenticate(.proof(let name, let hash, let isRight)):
            "\(isRight ? "right" : "wrong") proof \(hash) of \(text(name))"
        case .denied(let failure, let fault):
            "denied \(failure.rawValue)" + (fault.map { " \($0.condition.rawValue)" } ?? "")
        case .register(let name, _): "register \(text(name))"
        case .bind(let resource): "bind \(text(resource))"
        case .request(_, let head, let element): "\(head.kind) \(written(element))"
        case .managed: "managed"
        case .acknowledged: "acknowledged"
        case .rejected(let error): "rejected \(error.condition.rawValue)"
        case .end: "end"
        case .error(let error): "error \(error.condition.rawValue)"
        }
    }

    private static func written(_ element: XMLElement) -> String {
        var bytes: [UInt8] = []
        bytes.appendXML(element, in: "jabber:client")
        return text(bytes)
    }
}

/// What a client sends, step by step.
enum Client {
    static let header =
        "<?xml version='1.0'?><stream:stream xmlns='jabber:client' "
        + "xmlns:stream='http://etherx.jabber.org/streams' to='example.org' version='1.0'>"
    static let startTLS = "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"
    static let bind =
        "<iq type='set' id='b1'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
        + "<resource>phone</resource></bind></iq>"
    static let session =
        "<iq type='set' id='s1'><session xmlns='urn:ietf:params:xml:ns:xmpp-session'/></iq>"
    static let presence = "<presence/>"
    static let end = "</stream:stream>"

    static func plain(_ name: String, _ password: String) -> String {
        auth("PLAIN", base64("\0\(name)\0\(password)"))
    }

    static func auth(_ mechanism: String, _ data: String) -> String {
        "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='\(mechanism)'>\(data)</auth>"
    }

    static func response(_ data: String) -> String {
        "<response xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(data)</response>"
    }

    static let login = plain("alice", "pencil")
}
