import PresenceClient
import PresenceStore

@testable import PresenceServer

// Passwords of accounts: app servers set and remove them, clients log in with them.

extension Simulation {
    static let passwords = ["pencil", "eraser"]

    /// An app server changes the password of an account.
    func changePassword(_ client: SimulatedClient) {
        guard let account = accounts.randomElement(using: &random) else { return }
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
        let password = Self.passwords.randomElement(using: &random) ?? ""
        client.passwordKnown = passwords.state(of: client.account)
        return ["account": .string(client.account), "password": .string(password)]
    }

    /// Notes what clients were answered about passwords.
    func notePasswords(_ client: SimulatedClient) {
        for outcome in client.takePasswordOutcomes() {
            switch outcome {
            case .changed(let account, let password):
                let state = password.map(SimulatedPasswords.State.password) ?? .none
                passwords.end(account, state, isAlone: !isChanging(account))
            case .refused(let account), .lost(let account):
                passwords.lose(account)
            case .login(let typed, let known, let isAccepted):
                guard disk.canary == .none, let now = passwords.state(of: client.account),
                    now.version == known.version
                else { continue }
                if isAccepted != (now.state == .password(typed)) {
                    violation(
                        "\(client.name): \(typed) was \(isAccepted ? "accepted" : "refused"), "
                            + "and the password is \(now.state)")
                }
            }
        }
    }

    /// Whether another app server still waits for a change of an account.
    private func isChanging(_ account: String) -> Bool {
        clients.contains { client in
            client.asked.contains {
                ["setPassword", "removePassword"].contains($0.method)
                    && $0.params["account"]?.string == account
            }
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
