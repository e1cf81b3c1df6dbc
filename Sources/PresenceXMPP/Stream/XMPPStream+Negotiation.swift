// What an element below the stream means in each phase, but for SASL.

internal import Passwords
internal import PresenceCore
internal import XML

extension XMPPStream {
    mutating func read(
        _ element: XMLElement, _ service: StreamService,
        using random: inout some RandomNumberGenerator
    ) -> StreamInput {
        precondition(isOpened && !awaitsAnswer, "an element that is not due")
        // Not copied for a stanza, which needs none of them.
        var settings: StreamSettings { service.settings }
        let kind = StreamElement(element)
        if case .error = kind { return end() }
        let isInClear = phase == .clear && !settings.allowsPlaintext
        if case .notOffered(let answer) = kind, !isInClear {
            output.append(literal: answer)
            return .output
        }
        if case .management(let element) = kind, !isInClear { return read(element) }
        switch phase {
        case .clear where isInClear:
            return readInClear(kind, settings)
        case .clear, .secured:
            return readBeforeLogin(element, kind, settings, using: &random)
        case .authenticated: return readBeforeBind(kind, settings.limits, using: &random)
        case .bound: return readBound(element, kind, service.decoder)
        case .ended: return .needMore
        }
    }

    // MARK: - Before the login

    /// Nothing but STARTTLS is possible.
    private mutating func readInClear(
        _ kind: StreamElement, _ settings: StreamSettings
    ) -> StreamInput {
        switch kind {
        case .startTLS: return startTLS(settings)
        case .auth, .response, .abort: return rejectOnce(.encryptionRequired)
        default: return fail(StreamError(.policyViolation, "Begin with STARTTLS."))
        }
    }

    private mutating func readBeforeLogin(
        _ element: XMLElement, _ kind: StreamElement, _ settings: StreamSettings,
        using random: inout some RandomNumberGenerator
    ) -> StreamInput {
        switch kind {
        case .startTLS: return startTLS(settings)
        case .auth: return readAuth(element, settings)
        case .response: return readResponse(element)
        case .abort: return rejectOnce(.aborted)
        case .registration(let iq): return register(iq, settings)
        case .bind, .session, .stanza: return fail(StreamError(.notAuthorized))
        case .unknown, .management, .notOffered, .error:
            return fail(StreamError(.unsupportedStanzaType))
        }
    }

    /// Everything that was received before the encryption is dropped: it may be from another than
    /// the client.
    private mutating func startTLS(_ settings: StreamSettings) -> StreamInput {
        guard phase == .clear, settings.offersTLS, framing == .stream else {
            output.append(literal: "<failure xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
            return end()
        }
        output.append(literal: "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        let said = output
        self = XMPPStream(isEncrypted: true)
        isRepeated = true
        output = said
        pending = .encryption
        return .startTLS
    }

    private mutating func register(
        _ iq: StreamElement.IQ, _ settings: StreamSettings
    ) -> StreamInput {
        guard settings.allowsRegistration else {
            output.append(StanzaError.notAllowed, id: iq.id)
            return .output
        }
        guard iq.isSet else {
            output.appendRegistrationForm(id: iq.id)
            return .output
        }
        let name = iq.payload.first("username", in: Namespace.register)?.text ?? []
        let typed = iq.payload.first("password", in: Namespace.register)?.text ?? []
        let bytesMax = settings.limits.accountBytesMax
        guard let account = Localpart.account(of: name), account.count <= bytesMax else {
            let reason = Self.reason(toReject: name, bytesMax: bytesMax)
            return reject(registration: .notAcceptable(reason), iq)
        }
        do throws(PasswordError) {
            let password = try Password(typed)
            pending = .registration(id: iq.id, password.remark)
            return .register(account: account, password)
        } catch { return reject(registration: .notAcceptable(error.sentence), iq) }
    }

    /// What is wrong with the name of an account, and what would be right.
    private static func reason(toReject name: [UInt8], bytesMax: Int) -> String {
        if name.isEmpty { return "A registration needs a `username`." }
        if name.count > bytesMax { return "A name has at most \(bytesMax) bytes." }
        return #"A name has letters, digits and !#$%*+,-.=_ only. Any other character is written "#
            + #"as \ and two hexadecimal digits for each of its bytes: a space as \20."#
    }

    private mutating func reject(
        registration error: StanzaError, _ iq: StreamElement.IQ
    ) -> StreamInput {
        output.append(error, id: iq.id)
        return .output
    }

    // MARK: - After it

    private mutating func readBeforeBind(
        _ kind: StreamElement, _ limits: Limits, using random: inout some RandomNumberGenerator
    ) -> StreamInput {
        switch kind {
        case .bind(let iq):
            // Children other than the resource are ignored: libstrophe repeats those of the
            // feature.
            let wished = iq.payload.first("resource", in: Namespace.bind)?.text ?? []
            var device = Resource.device(wished: wished) ?? []
            if device.isEmpty || device.count > limits.deviceBytesMax {
                device = StreamName.random(min(8, limits.deviceBytesMax), using: &random)
            }
            pending = .bind(id: iq.id, device: device)
            return .bind(device: device)
        case .session, .registration, .stanza:
            return fail(StreamError(.notAuthorized, "Bind a resource first."))
        default: return fail(StreamError(.unsupportedStanzaType))
        }
    }

    private mutating func readBound(
        _ element: XMLElement, _ kind: StreamElement, _ decoder: StanzaDecoder
    ) -> StreamInput {
        switch kind {
        case .stanza, .registration, .session, .bind: management?.noteHandled()
        default: break
        }
        switch kind {
        case .stanza(let kind): return decode(Stanza(kind: kind, element: element), decoder)
        case .registration: return decode(Stanza(kind: .iq, element: element), decoder)
        case .session(let iq):
            output.appendResult(id: iq.id)
            return .output
        case .bind(let iq):
            output.append(StanzaError.notAllowed, id: iq.id)
            return .output
        default: return fail(StreamError(.unsupportedStanzaType))
        }
    }

    private mutating func decode(_ stanza: Stanza, _ decoder: StanzaDecoder) -> StreamInput {
        let client = client
        precondition(phase == .bound && !client.device.isEmpty, "a stanza of no device")
        switch decoder.decode(stanza, from: client) {
        case .request(let request, let head): return .request(request, head, stanza.element)
        case .rejected(let error, let head):
            output.append(error, head, to: client)
            return .rejected(error)
        case .invalidFrom: return fail(StreamError(.invalidFrom))
        }
    }

    // MARK: - Answers

    /// From here on, what arrives was encrypted. The client opens its stream again.
    public mutating func encrypted() {
        if case .encryption = pending { pending = .nothing }
    }

    /// The account was registered. If its password may keep clients from logging in, its user is
    /// notified.
    public mutating func registered() {
        guard case .registration(let id, let remark) = pending else { return }
        precondition(phase == .clear || phase == .secured, "a registration after the login")
        pending = .nothing
        output.appendResult(id: id, remark)
    }

    /// The account was not registered.
    public mutating func reject(registration error: StanzaError) {
        guard case .registration(let id, _) = pending else { return }
        pending = .nothing
        output.append(error, id: id)
    }

    /// The session has begun.
    public mutating func bound() {
        guard case .bind(let id, let device) = pending else { return }
        precondition(phase == .authenticated && !account.isEmpty && !device.isEmpty)
        pending = .nothing
        self.device = device
        phase = .bound
        output.appendIQ("result", id: id)
        output.append(literal: "><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>")
        output.appendJID(of: account, at: domain, device: device)
        output.append(literal: "</jid></bind></iq>")
    }

    /// The session has not begun. The client may bind again, but not without end: some clients do
    /// so at once. Returns the error with which the stream was closed after the last chance.
    public mutating func reject(bind error: StanzaError) -> StreamError? {
        guard case .bind(let id, _) = pending else { return nil }
        pending = .nothing
        failures += 1
        output.append(error, id: id)
        guard failures >= Self.failuresMax else { return nil }
        let end = StreamError(.policyViolation, "Too many failures.")
        _ = fail(end)
        return end
    }
}
