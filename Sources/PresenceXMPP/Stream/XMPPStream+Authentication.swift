// SASL (RFC 6120, 6): one exchange at a time, three failures a stream.

internal import Containers
public import Passwords
internal import XML

extension XMPPStream {
    mutating func readAuth(_ element: XMLElement, _ settings: StreamSettings) -> StreamInput {
        // In the middle of an exchange. It is given up, and may begin again.
        guard case .nothing = pending else { return rejectOnce(.malformedRequest) }
        let wished = element.attribute("mechanism") ?? []
        let mechanism = settings.mechanisms.first { $0.rawValue.utf8.elementsEqual(wished) }
        guard let mechanism else { return rejectOnce(.invalidMechanism) }
        // Some clients break lines: RFC 2045 does, where RFC 4648 does not.
        let text = element.text.withoutWhiteSpace
        guard !text.isEmpty else {
            pending = .initialResponse(mechanism)
            output.appendSASL("challenge", [])
            return .output
        }
        // A single equals sign is data of no bytes, as opposed to no data.
        let data = text.isEqual(to: "=") ? [] : Base64.decoded(text)
        guard let data else { return rejectOnce(.incorrectEncoding) }
        return begin(mechanism, data)
    }

    mutating func readResponse(_ element: XMLElement) -> StreamInput {
        let state = pending
        pending = .nothing
        guard let data = Base64.decoded(element.text.withoutWhiteSpace) else {
            return rejectOnce(.incorrectEncoding)
        }
        switch state {
        case .initialResponse(let mechanism): return begin(mechanism, data)
        case .challenge(let challenge, let account):
            let final: [UInt8]?
            do throws(SASLError) {
                final = try challenge.verify(data)
            } catch {
                guard error == .notAuthorized else { return rejectOnce(SASLFailure(error)) }
                final = nil
            }
            pending = .proof(account: account, final: final)
            return .authenticate(
                .proof(account: account, challenge.hash, isRight: final != nil))
        default: return rejectOnce(.malformedRequest)
        }
    }

    private mutating func begin(_ mechanism: SASLMechanism, _ data: [UInt8]) -> StreamInput {
        do throws(SASLError) {
            if let hash = mechanism.scramHash {
                let request = try ScramRequest(reading: data)
                guard let account = Localpart.account(of: request.name) else {
                    return rejectOnce(.notAuthorized)
                }
                guard mayAct(as: request.authorization, account) else {
                    return rejectOnce(.invalidAuthzid)
                }
                pending = .keys(request, hash, account: account)
                return .authenticate(.keys(account: account))
            }
            let message = try PlainMessage(reading: data)
            guard let account = Localpart.account(of: message.name) else {
                return rejectOnce(.notAuthorized)
            }
            guard mayAct(as: message.authorization, account) else {
                return rejectOnce(.invalidAuthzid)
            }
            pending = .password(account: account)
            return .authenticate(.password(account: account, secret: message.secret))
        } catch { return rejectOnce(SASLFailure(error)) }
    }

    /// Accounts act for themselves only.
    private func mayAct(as authorization: [UInt8], _ account: [UInt8]) -> Bool {
        guard !authorization.isEmpty else { return true }
        guard let jid = JID(authorization), let localpart = jid.localpart else { return false }
        return Localpart.account(of: localpart) == account && jid.domain == domain
            && jid.resource == nil
    }

    /// The client opens its stream again; what it has sent already belongs to the new one.
    private mutating func succeed(_ account: [UInt8], _ data: [UInt8]) {
        precondition(phase == .clear || phase == .secured, "a second login")
        precondition(!account.isEmpty && !domain.isEmpty)
        output.appendSASL("success", data)
        pending = .nothing
        failures = 0
        phase = .authenticated
        self.account = account
        isOpened = false
        splitter.restart()
    }

    /// Says that an authentication has failed, and closes the stream after the last chance.
    mutating func rejectOnce(_ failure: SASLFailure, _ text: String = "") -> StreamInput {
        precondition(failures < Self.failuresMax, "a failure after the last chance")
        pending = .nothing
        failures += 1
        output.append(failure, text)
        guard failures >= Self.failuresMax else { return .denied(failure, nil) }
        let error = StreamError(.policyViolation, "Too many failures.")
        _ = fail(error)
        return .denied(failure, error)
    }

    // MARK: - Answers

    /// The password or token is that of the account, or a right proof is accepted.
    public mutating func authenticated() {
        switch pending {
        case .password(let account): succeed(account, [])
        case .proof(let account, let final?): succeed(account, final)
        default: return
        }
    }

    /// The keys of the account; decoys if it has none.
    public mutating func challenge(
        with keys: StoredKeys, using random: inout some RandomNumberGenerator
    ) {
        guard case .keys(let request, let hash, let account) = pending else { return }
        let challenge = ScramChallenge(to: request, hash: hash, keys: keys, using: &random)
        pending = .challenge(challenge, account: account)
        output.appendSASL("challenge", challenge.message)
    }

    /// The account is not authenticated: returns `denied`, or `needMore` if none was to be. The
    /// text is for people, and fixed but for numbers.
    public mutating func reject(_ failure: SASLFailure, _ text: String = "") -> StreamInput {
        switch pending {
        case .password, .keys, .proof: return rejectOnce(failure, text)
        default: return .needMore
        }
    }
}
