import EventLoop
import Passwords
import PresenceClient
import PresenceStore

@testable import PresenceServer

// Passwords of accounts: app servers set and remove them, clients log in with them.

extension Simulation {
    static let passwords = ["pencil", "eraser"]

    /// An app server changes the password of an account.
    func changePassword(_ client: SimulatedClient) {
        var account = accounts.randomElement(using: &random) ?? "ann"
        if chance(5) { account = "new\(Int.random(in: 0..<4, using: &random))" }
        passwords.begin(account)
        guard !chance(3) else {
            return ask(client, "removePassword", ["account": .string(account)])
        }
        let password = Self.passwords.randomElement(using: &random) ?? ""
        ask(
            client, "setPassword",
            ["account": .string(account), "password": .string(password)])
    }

    /// The parameters of a login with a password, which may be wrong.
    func passwordLogin(_ client: SimulatedClient) -> [String: JSON] {
        client.passwordKnown = passwords.state(of: client.account)
        return [
            "account": .string(client.account), "password": .string(somePassword(client.account)),
        ]
    }

    /// The password with which an XMPP client logs in, which may be wrong.
    func passwordLogin(_ client: SimulatedXMPPClient) -> SimulatedXMPPClient.Credential {
        let hashes: [ScramHash?] = configuration.passwords == .only ? [nil, .sha1, .sha256] : [nil]
        return .init(
            secret: somePassword(client.account), ends: nil,
            hash: hashes.randomElement(using: &random) ?? nil,
            known: passwords.state(of: client.account))
    }

    private func somePassword(_ account: String) -> String {
        if !chance(3), let known = passwords.password(of: account) { return known }
        return Self.passwords.randomElement(using: &random) ?? ""
    }

    /// An account that an XMPP client registers: its own, or one that nobody uses.
    func registration(_ client: SimulatedXMPPClient) -> SimulatedXMPPClient.Registration {
        let isOwn = chance(2)
        let account = isOwn ? client.account : "new\(Int.random(in: 0..<4, using: &random))"
        let known = passwords.state(of: account)
        if configuration.xmpp?.allowsRegistration == true { passwords.begin(account) }
        let password = Self.passwords.randomElement(using: &random) ?? ""
        return .init(account: account, password: password, known: known)
    }

    /// An XMPP client changes the password of its account.
    func changeOwnPassword(_ client: SimulatedXMPPClient, on id: StreamID) {
        if client.mayChangePassword { passwords.begin(client.account) }
        let password = Self.passwords.randomElement(using: &random) ?? ""
        send(counted: client.changePassword(password), on: id)
    }

    /// Notes what a client was answered about passwords.
    func notePasswords(_ peer: SimulatedPeer) {
        guard !peer.passwordOutcomes.isEmpty else { return }
        let outcomes = peer.passwordOutcomes
        peer.passwordOutcomes = []
        for outcome in outcomes { note(outcome, of: peer) }
    }

    private func note(_ outcome: PasswordOutcome, of peer: SimulatedPeer) {
        switch outcome {
        case .changed(let account, let password):
            passwords.end(account, password.map { .password($0) } ?? SimulatedPasswords.State.none)
        case .rejected(let account), .lost(let account):
            passwords.lose(account)
        case .registered(let registration):
            let isAlone = passwords.end(registration.account, .password(registration.password))
            if isAlone, case .password? = registration.known?.state, disk.canary == .none {
                violation("\(peer.name) has registered \(registration), which has a password")
            }
        case .nameTaken(let registration):
            let isAlone = passwords.end(registration.account, registration.known?.state)
            // Other accounts are used.
            if isAlone, registration.known?.state == SimulatedPasswords.State.none,
                !accounts.contains(registration.account), disk.canary == .none
            {
                violation("\(peer.name) was told that \(registration) is not free")
            }
        case .login(let typed, let known, let isAccepted):
            guard disk.canary == .none, let now = passwords.state(of: peer.account),
                now.version == known.version, isAccepted != (now.state == .password(typed))
            else { return }
            violation(
                "\(peer.name): \(typed) was \(isAccepted ? "accepted" : "rejected"), "
                    + "and the password is \(now.state)")
        }
    }

    func deriveSome() {
        while !passwordThread.isIdle, !chance(3) { deriveOne() }
    }

    func deriveOne() {
        guard !passwordThread.isIdle else { return }
        // A session counts as heard when its password is found right.
        noteWaitingAsWhole()
        let result = passwordThread.result(Int.random(in: 0..<100, using: &random))
        service.withHost { host, now in host.report([result], at: now) }
    }

    /// At a quiet time: no task is left over, and what is counted is there.
    func checkPasswords() {
        guard disk.canary == .none else { return }
        let tasks = service.hub.host.passwords
        if tasks.count > 0 { violation("\(tasks.count) tasks with passwords at rest") }
        let stored = disk.durable.credentials.keys
        if tasks.storedCount != stored.count {
            violation("\(tasks.storedCount) passwords counted, \(stored.count) stored")
        }
        passwords.rest(Set(stored.map { String(decoding: $0.account, as: UTF8.self) }))
    }
}
