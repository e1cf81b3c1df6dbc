import PresenceCore

/// Connections that prove by a password to be an account, and have no session yet. What they prove
/// is void once that password has changed: an XMPP client may take minutes until it binds.
struct PasswordProofs {
    private struct Proof {
        let account: [UInt8]
        var isVoid = false
    }

    /// At most one for each connection.
    private var proofs: [ConnectionID: Proof] = [:]

    /// A connection begins to prove that it is an account; before the keys are read.
    mutating func begin(_ connection: ConnectionID, _ account: [UInt8]) {
        proofs[connection] = Proof(account: account)
    }

    /// The password of an account has changed, or is none any more. O(connections without session).
    mutating func passwordChanged(of account: [UInt8]) {
        for (connection, proof) in proofs where proof.account == account {
            proofs[connection]?.isVoid = true
        }
    }

    /// Whether what a connection has proved is not valid any more.
    func isVoid(_ connection: ConnectionID) -> Bool {
        proofs[connection]?.isVoid ?? false
    }

    /// A connection has its session, is closed, or proves something else.
    mutating func end(_ connection: ConnectionID) {
        if !proofs.isEmpty { proofs[connection] = nil }
    }
}
