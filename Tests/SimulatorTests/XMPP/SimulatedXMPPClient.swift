import Containers
import EventLoop
import XML

// An XMPP client: what it sends, what it has been told, and what it may hold the service to. Here
// are its stream and the login; what it is told once its device is bound is in `+Stanzas`, what it
// sends in `+Sending`.
//
// A stanza that is not answered is known to have been carried out when a later iq is answered, or
// an error about a later stanza arrives: the service does one thing at a time.

/// An XMPP client.
final class SimulatedXMPPClient: SimulatedPeer {
    /// How far its login has come.
    enum Phase {
        case closed
        /// It waits for the features of its first stream.
        case opening
        /// It may authenticate.
        case open
        case authenticating
        /// It waits for the answer to a registration.
        case registering
        /// It waits for the features of its second stream.
        case opensAgain
        /// It may bind its device.
        case authenticated
        case binding
        case bound
        /// A login that was sent in one piece was rejected.
        case rejected
        /// The service has ended the stream.
        case over
    }

    private(set) var phase = Phase.closed
    private(set) var domain = ""
    /// It has ended its stream.
    var isEnding = false
    /// Whether it has sent its login in one piece.
    private var isPipelining = false
    /// The token with which it logs in, and when that ends; nil: it need not have one.
    private(set) var credential = Credential()
    /// Its exchange of SCRAM; nil: it has sent its password, or nothing.
    var scram: SimulatedScram?
    /// How many exchanges of SCRAM it has begun.
    var lastNonce = 0
    let salted: SaltedPasswords
    /// The account that it registers; nil: none.
    private var registration: Registration?
    /// What the service is configured to do.
    var takesScram = false
    var takesPasswords = false
    var allowsRegistration = false
    private let reader: XMLReader
    private var splitter = StanzaSplitter()
    private var scope = StreamScope.standard
    private var replies: [UInt8] = []
    /// What its ids begin with: another client may take its device, and be sent answers to it.
    let idPrefix: String
    /// Whether it connects by a WebSocket.
    let usesWebSocket: Bool
    private(set) var lastID = 0
    /// What is not known to have been carried out yet, in order.
    private(set) var asked: [Asked] = []
    /// The ids of questions to other devices that were not answered, over all its connections.
    var relayed: Set<String> = []
    /// What it has built from the result and the pushes; nil: it has not asked for it.
    var roster: [String: SimulatedContact]?
    /// The number of the last push or ping.
    var pushNumber = 0
    var mail = SimulatedMail()
    let messages: MessageLedger
    /// How its device is shown, as far as it knows; nil: it is not.
    private(set) var shown: ShownDevice?
    /// Whether it has hidden its device, and nobody sees it.
    private(set) var hasHidden = false
    /// What it is told of others, and of its own account.
    var sight = SimulatedSight()
    /// The devices that have presented themselves to it.
    var directed = DirectedSight()
    /// The accounts that its account has seen at some time of this connection.
    var everSeen: Set<String> = []
    /// Whether these are all that it is still told of: it had its roster at a quiet time.
    private(set) var knowsStrangers = false
    /// To what it has presented its device, and the numbers of that.
    private(set) var addresses: [SimulatedAddress: Int] = [:]
    /// Whether its session may have begun with another connection, and have its addresses.
    private(set) var inherits = true
    /// What all clients have sent.
    let ledger: DirectedLedger
    /// How many stanzas had been sent to its account when its device was bound.
    private(set) var sentBefore = 0
    /// By device: how many of its presences for subscribers were heard.
    var presenceCounts: [String: Int] = [:]
    /// How many of its stanzas were rejected, over all its connections.
    var rejectionCount = 0
    /// The accounts that have asked to see its account.
    var asking: Set<String> = []

    init(
        account: String, device: String, number: Int, reader: XMLReader,
        ledger: DirectedLedger, salted: SaltedPasswords, messages: MessageLedger
    ) {
        self.messages = messages
        self.reader = reader
        self.salted = salted
        self.ledger = ledger
        idPrefix = "c\(number)-"
        usesWebSocket = number.isMultiple(of: 3)
        super.init(account: account, device: device)
    }

    override var speaksXMPP: Bool { true }

    override var isWaiting: Bool {
        switch phase {
        case .opening, .authenticating, .registering, .opensAgain, .binding: true
        case .closed, .open, .authenticated, .rejected, .over: false
        case .bound: !asked.isEmpty
        }
    }

    override var isShown: Bool { isLoggedIn && !isDead && shown != nil }

    override var takesAnyMessage: Bool {
        readingSince != nil && certainPriority.map { $0 >= 0 } == true
    }

    override var signOfLife: [UInt8] { [0x20] }

    var bareJID: String { "\(account)@\(domain)" }
    var fullJID: String { "\(account)@\(domain)/\(device)" }

    override func takeReplies() -> [UInt8] {
        defer { replies = [] }
        return replies
    }

    override func connectionEnded() {
        hasLeftUnanswered = hasLeftUnanswered || isWaiting
        // While it is known whether it has a token.
        endStream(.closed)
        super.connectionEnded()
        splitter = StanzaSplitter()
        scope = .standard
        replies = []
        isEnding = false
        isPipelining = false
        roster = nil
        pushNumber = 0
        mail = SimulatedMail()
        mail.opened = messages.tick()
        shown = nil
        hasHidden = false
        sight.forgetAll()
        directed = DirectedSight()
        everSeen = []
        knowsStrangers = false
        addresses = [:]
        inherits = true
    }

    /// Nothing is on its way: the service knows it at these addresses.
    func restDirected(
        inForce: Set<SimulatedAddress>, _ number: (SimulatedAddress) -> Int
    ) {
        // Before it shows itself, what it has inherited may still end.
        if shown != nil {
            addresses = inForce.reduce(into: [:]) { $0[$1] = number($1) }
            inherits = false
        }
        knowsStrangers = roster != nil
        directed.rest()
    }

    private func endStream(_ phase: Phase) {
        if let registration = endRegistration() { lose(registration) }
        self.phase = phase
        readingSince = nil
        isLoggedIn = false
        forgetAsked()
    }

    private func lose(_ registration: Registration) {
        guard allowsRegistration else { return }
        passwordOutcomes.append(.lost(account: registration.account))
    }

    /// Nothing is answered any more.
    private func forgetAsked() {
        for stanza in asked {
            guard case .changePassword = stanza.kind, mayChangePassword else { continue }
            passwordOutcomes.append(.lost(account: account))
        }
        asked = []
    }

    func reply(_ text: String) { replies += text.utf8 }

    // MARK: Asking

    /// A stanza that was sent.
    struct Asked {
        enum Kind {
            /// It is answered, in order.
            case question
            case roster
            case changePassword(String)
            /// It is answered only if it is rejected.
            case other
            case show(ShownDevice)
            case hide
            /// It presents itself to an address, with a number.
            case direct(SimulatedAddress, Int)
            case withdraw(SimulatedAddress)
            /// It writes a message, with this body.
            case write(String)
        }

        let id: String
        let kind: Kind

        var isAnswered: Bool {
            switch kind {
            case .question, .roster, .changePassword: true
            case .other, .show, .hide, .direct, .withdraw, .write: false
            }
        }

        var isShow: Bool { if case .show = kind { true } else { false } }
        var isHide: Bool { if case .hide = kind { true } else { false } }
    }

    /// The id of a stanza that is sent now.
    func ask(_ kind: Asked.Kind) -> String {
        lastID += 1
        let id = "\(idPrefix)\(lastID)"
        switch kind {
        case .show, .hide: lastShow = messages.tick()
        default: break
        }
        asked.append(Asked(id: id, kind: kind))
        return id
    }

    /// Takes out what is answered, and notes that what was sent before it is carried out.
    func answered(_ id: String, error: String?) -> Asked? {
        guard let place = asked.firstIndex(where: { $0.id == id }) else { return nil }
        for earlier in asked[..<place] {
            if earlier.isAnswered { violations.append("no answer to \(earlier.id) before \(id)") }
            carriedOut(earlier)
        }
        noteTaken(beforeAnswerTo: Int(id.dropFirst(idPrefix.count)) ?? 0)
        let answered = asked[place]
        if let error { rejected(answered, error) } else { carriedOut(answered) }
        asked.removeFirst(place + 1)
        return answered
    }

    private func carriedOut(_ stanza: Asked) {
        switch stanza.kind {
        case .show(let device):
            shown = device
            hasHidden = false
        case .hide:
            shown = nil
            hasHidden = true
            // What it is told when it shows itself again is complete.
            sight.forgetAll()
            directed.hide()
            addresses = [:]
            inherits = false
        case .direct(let address, let number):
            addresses[address] = number
            if addresses.count > Self.addressesMax {
                violations.append("presented itself to \(addresses.count) addresses")
            }
        case .withdraw(let address): addresses[address] = nil
        case .write(let body):
            messages.note(.stored, of: body)
            meet("wrote")
        case .question, .roster, .other, .changePassword: break
        }
    }

    // MARK: Login

    /// What follows is carried by a WebSocket.
    func beginWebSocket() { webSocket = SimulatedWebSocket(reader) }

    /// Opens a stream, and with it logs in if it does not wait for the service.
    func open(
        at domain: String, with credential: Credential, isPipelining: Bool,
        registering registration: Registration?
    ) -> [UInt8] {
        self.domain = domain
        self.credential = credential
        // SCRAM has a challenge.
        self.isPipelining = isPipelining && credential.hash == nil && registration == nil
        self.registration = registration
        phase = .opening
        guard self.isPipelining else { return Array(header.utf8) }
        return Array((header + authenticationStart() + header + binding).utf8)
    }

    /// It is registering an account.
    func beginRegistration(_ registration: Registration) {
        self.registration = registration
        phase = .registering
    }

    /// Its registration is answered, or it waits for it no longer.
    func endRegistration() -> Registration? {
        defer { registration = nil }
        if phase == .registering { phase = .open }
        return registration
    }

    /// Authenticates again, after a failure.
    func authenticate(with credential: Credential) -> [UInt8] {
        self.credential = credential
        phase = .authenticating
        return Array(authenticationStart().utf8)
    }

    /// Binds its device again, after a rejection.
    func bind() -> [UInt8] {
        phase = .binding
        return Array(binding.utf8)
    }

    private var header: String {
        """
        <?xml version='1.0'?><stream:stream xmlns='jabber:client' \
        xmlns:stream='http://etherx.jabber.org/streams' to='\(domain)' version='1.0'>
        """
    }

    private var binding: String {
        """
        <iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
        <resource>\(device)</resource></bind></iq>
        """
    }

    // MARK: Stream

    override func receive(_ bytes: [UInt8]) {
        var offset = 0
        while violations.isEmpty, hearNext(in: bytes.span.bytes, from: &offset) {}
    }

    private func hearNext(in chunk: RawSpan, from offset: inout Int) -> Bool {
        guard phase != .over else {
            if offset < chunk.byteCount { violations.append("bytes after the end of the stream") }
            return false
        }
        do throws(XMLError) {
            switch splitter.next(in: chunk, from: &offset, bytesMax: 1 << 20) {
            case .needMore: return false
            case .whiteSpace: break
            case .streamEnd: endStream(.over)
            case .rejected(let error): throw error
            case .header(let part):
                let header = try splitter.withBytes(of: part, in: chunk) {
                    (bytes) throws(XMLError) in try reader.readHeader(bytes)
                }
                scope = header.scope
                checkHeader(header.element)
            case .stanza(let part):
                let element = try splitter.withBytes(of: part, in: chunk) {
                    (bytes) throws(XMLError) in try reader.readStanza(bytes, in: scope)
                }
                hear(element)
            }
        } catch { violations.append("XML that is rejected: \(error)") }
        return true
    }

    private func checkHeader(_ header: XMLElement) {
        let isWellAddressed =
            header.text("from") == domain || header.text("from") != nil && phase == .opening
        guard header.isNamed("stream", in: "http://etherx.jabber.org/streams"),
            isWellAddressed, header.text("version") == "1.0", header.text("id")?.isEmpty == false
        else {
            return violations.append("a header from \(header.text("from") ?? "") while \(phase)")
        }
    }

    private func hear(_ element: XMLElement) {
        let name = String(decoding: element.name, as: UTF8.self)
        switch String(decoding: element.namespace, as: UTF8.self) {
        case "http://etherx.jabber.org/streams":
            name == "features" ? proceed(element) : hearError(element)
        case "urn:ietf:params:xml:ns:xmpp-sasl":
            switch name {
            case "success": succeed(element)
            case "challenge": hearChallenge(element)
            default: fail(element)
            }
        case "jabber:client": hearStanza(element, name)
        case let other: violations.append("\(name) of \(other)")
        }
    }

    private func hearError(_ element: XMLElement) {
        meet("stream error \(element.nameOfFirst)")
        // Nothing else is answered. The end of the stream follows.
        forgetAsked()
    }

    /// Goes on with what the service offers.
    private func proceed(_ features: XMLElement) {
        switch phase {
        case .opening:
            checkMechanisms(features)
            if let registration {
                return reply(String(decoding: register(registration), as: UTF8.self))
            }
            phase = .authenticating
            if !isPipelining { reply(authenticationStart()) }
        case .opensAgain:
            guard features.first("bind", in: "urn:ietf:params:xml:ns:xmpp-bind") != nil else {
                return violations.append("no bind among the features")
            }
            phase = .binding
            if !isPipelining { reply(binding) }
        default: violations.append("features while \(phase)")
        }
    }

    private func succeed(_ success: XMLElement) {
        guard phase == .authenticating else {
            return violations.append("authenticated while \(phase)")
        }
        checkSuccess(success)
        tokenEnds = credential.ends
        phase = .opensAgain
        splitter.restart()
        if !isPipelining { reply(header) }
    }

    private func fail(_ failure: XMLElement) {
        guard phase == .authenticating else { return violations.append("failed while \(phase)") }
        meet("SASL \(failure.nameOfFirst)")
        if failure.nameOfFirst == "not-authorized" { noteLogin(isAccepted: false) }
        phase = isPipelining ? .rejected : .open
    }

    /// Its device is bound, or may not be.
    func hearBound(_ iq: XMLElement, isError: Bool) {
        guard phase == .binding else { return violations.append("bound while \(phase)") }
        guard !isError else {
            meet("bind \(iq.nameOfError)")
            phase = .authenticated
            return
        }
        let jid =
            iq.first("bind", in: "urn:ietf:params:xml:ns:xmpp-bind")?
            .first("jid", in: "urn:ietf:params:xml:ns:xmpp-bind")?.text ?? []
        guard String(decoding: jid, as: UTF8.self) == fullJID else {
            return violations.append("bound another device")
        }
        meet("bind")
        phase = .bound
        readingSince = messages.tick()
        isLoggedIn = true
        sentBefore = ledger.sentCount(to: account)
    }
}

extension XMLElement {
    /// The value of an attribute.
    func text(_ name: StaticString) -> String? {
        attribute(name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The name of the first element in it.
    var nameOfFirst: String {
        elements.first { _ in true }.map { String(decoding: $0.name, as: UTF8.self) } ?? ""
    }

    /// The condition of the stanza error in it.
    var nameOfError: String { first("error", in: "jabber:client")?.nameOfFirst ?? "" }
}
