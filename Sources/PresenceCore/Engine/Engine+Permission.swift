import Containers

/// Who gives a command.
enum Caller {
    /// A connection that has not logged in.
    case anonymous
    /// A session of an account.
    case client(session: UInt32, account: AccountHandle)
    /// A session of an app server.
    case appServer
}

/// What account a request names as the one that it is about.
public enum NamedSubject: Hashable, Sendable {
    /// None: the peer's own.
    case none
    case known(AccountHandle)
    /// A name that the engine does not know.
    case unknown
}

extension Engine {
    /// Who is at the other end of `connection`.
    func caller(of connection: ConnectionID) -> Caller {
        guard isLoggedIn(connection) else { return .anonymous }
        switch connections[Int(connection.slot)].peer {
        case .nobody: return .anonymous
        case .appServer: return .appServer
        case .client(let session):
            return .client(
                session: session, account: AccountHandle(index: sessions[session].account))
        }
    }

    /// Whether the engine knows who is at the other end of `connection`.
    func isLoggedIn(_ connection: ConnectionID) -> Bool {
        let slot = Int(connection.slot)
        guard slot < connections.count, connections[slot].generation == connection.generation
        else { return false }
        if case .nobody = connections[slot].peer { return false }
        return true
    }

    /// Why the peer of `connection` may not give such a command; nil: it may.
    ///
    /// To be asked before the parameters are looked at, names interned and limits applied: a peer
    /// that may not ask learns nothing of them.
    public func refusal(of kind: CommandKind, from connection: ConnectionID) -> Refusal? {
        refusal(of: kind, by: caller(of: connection))
    }

    /// Why the peer of `connection` may not give a command about this account; nil: it may. To be
    /// asked before the account's name is interned.
    public func refusal(of subject: NamedSubject, from connection: ConnectionID) -> Refusal? {
        do throws(Refusal) {
            switch (caller(of: connection), subject) {
            case (.client, .unknown): throw Refusal(.forbidden, field: .account)
            case (.appServer, .unknown): break
            case (let caller, .known(let account)): _ = try self.subject(account, of: caller)
            case (let caller, _): _ = try self.subject(nil, of: caller)
            }
            return nil
        } catch {
            return error
        }
    }

    /// The table of who may do what. Whatever it does not allow is refused.
    func refusal(of kind: CommandKind, by caller: Caller) -> Refusal? {
        switch (caller, kind) {
        case (.anonymous, .login): nil
        case (.anonymous, _): Refusal(.notLoggedIn)
        case (_, .login): Refusal(.alreadyLoggedIn)
        // There is no end of its session to put off.
        case (.appServer, .refresh): Refusal(.forbidden)
        case (.appServer, _): nil
        case (.client, .query), (.client, .subscribers), (.client, .sessions), (.client, .kick),
            (.client, .stats), (.client, .metrics), (.client, .feed), (.client, .why),
            (.client, .top):
            Refusal(.forbidden)
        case (.client, _): nil
        }
    }

    /// The account that a command is about: a client's own, or the one an app server names.
    func subject(_ named: AccountHandle?, of caller: Caller) throws(Refusal) -> AccountHandle {
        switch caller {
        case .client(_, let own):
            guard named == nil || named == own else {
                throw Refusal(.forbidden, field: .account)
            }
            return own
        case .appServer:
            guard let named else { throw Refusal(.missingField, field: .account) }
            return named
        case .anonymous:
            throw Refusal(.notLoggedIn)
        }
    }
}
