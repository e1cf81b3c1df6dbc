// SASL (RFC 6120, 6): one exchange at a time, three failures a stream.

internal import Containers
public import Passwords
internal import XML

extension XMPPStream {
    mutating func hearAuth(_ element: XMLElement, _ settings: StreamSettings) -> Heard {
        // In the middle of an exchange. It is given up, and may begin again.
        guard case .nothing = pending else { return refuseOnce(.malformedRequest) }
        let wished = element.attribute("mechanism") ?? []
        let mechanism = settings.mechanisms.first { $0.rawValue.utf8.elementsEqual(wished) }
        guard let mechanism else { return refuseOnce(.invalidMechanism) }
        let text = element.text
        guard !text.isEmpty else {
            pending = .initialResponse(mechanism)
            output.appendSASL("challenge", [])
            return .say
        }
        // A single equals sign is data of no bytes, as opposed to no data.
        let data = text.isEqual(to: "=") ? [] : Base64.decoded(text)
        guard let data else { return refuseOnce(.incorrectEncoding) }
        return begin(mechanism, data)
    }

    mutating func hearResponse(_ element: XMLElement) -> Heard {
        let state = pending
        pending = .nothing
        guard let data = Base64.decoded(element.text) else { return refuseOnce(.incorrectEncoding) }
        switch state {
        case .initialResponse(let mechanism): return begin(mechanism, data)
        case .challenge(let challenge, let name):
            do throws(SASLError) {
                let final = try challenge.verify(data)
                succeed(name, final)
                return .say
            } catch { return refuseOnce(SASLFailure(error)) }
        default: return refuseOnce(.malformedRequest)
        }
    }

    private mutating func begin(_ mechanism: SASLMechanism, _ data: [UInt8]) -> Heard {
        do throws(SASLError) {
            if let hash = mechanism.scramHash {
                let request = try ScramRequest(reading: data)
                guard let name = StreamName.account(request.name) else {
                    return refuseOnce(.notAuthorized)
                }
                guard mayAct(as: request.authorization, name) else {
                    return refuseOnce(.invalidAuthzid)
                }
                pending = .keys(request, hash, name: name)
                return .authenticate(.keys(name: name))
            }
            let message = try PlainMessage(reading: data)
            guard let name = StreamName.account(message.name) else {
                return refuseOnce(.notAuthorized)
            }
            guard mayAct(as: message.authorization, name) else {
                return refuseOnce(.invalidAuthzid)
            }
            pending = .password(name: name)
            return .authenticate(.password(name: name, secret: message.secret))
        } catch { return refuseOnce(SASLFailure(error)) }
    }

    /// Accounts act for themselves only.
    private func mayAct(as authorization: [UInt8], _ name: [UInt8]) -> Bool {
        guard !authorization.isEmpty else { return true }
        guard let at = authorization.firstIndex(of: UInt8(ascii: "@")) else { return false }
        return StreamName.account(Array(authorization[..<at])) == name
            && authorization[(at + 1)...].elementsEqual(domain)
    }

    /// The client opens its stream again; what it has sent already belongs to the new one.
    private mutating func succeed(_ name: [UInt8], _ data: [UInt8]) {
        output.appendSASL("success", data)
        pending = .nothing
        phase = .authenticated
        self.name = name
        isOpened = false
        splitter.restart()
    }

    /// Says that an authentication has failed, and closes the stream after the last chance.
    mutating func refuseOnce(_ failure: SASLFailure) -> Heard {
        pending = .nothing
        failures += 1
        output.append(failure)
        guard failures >= Self.failuresMax else { return .say }
        return fail(StreamFault(.policyViolation, "Too many failures."))
    }

    // MARK: - Answers

    /// The password or token is that of the account.
    public mutating func authenticated() {
        guard case .password(let name) = pending else { return }
        succeed(name, [])
    }

    /// The keys of the account; decoys if it has none.
    public mutating func challenge(
        with keys: StoredKeys, using random: inout some RandomNumberGenerator
    ) {
        guard case .keys(let request, let hash, let name) = pending else { return }
        let challenge = ScramChallenge(to: request, hash: hash, keys: keys, using: &random)
        pending = .challenge(challenge, name: name)
        output.appendSASL("challenge", challenge.message)
    }

    /// The account is not authenticated.
    ///
    /// Returns `fault` if this was the last chance, otherwise `say`.
    public mutating func refuse(_ failure: SASLFailure) -> Heard {
        switch pending {
        case .password, .keys: return refuseOnce(failure)
        default: return .needMore
        }
    }
}
