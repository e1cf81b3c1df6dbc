import Containers

/// The peer that gives a command.
enum Caller {
    /// A connection that has not logged in.
    case anonymous
    /// A session of an account.
    case client(session: UInt32, account: AccountHandle)
    /// A session of an app server.
    case appServer
}

/// The account that a request names as its subject.
public enum NamedSubject: Hashable, Sendable {
    /// None: the peer's own.
    case none
    case known(AccountHandle)
    /// A name that the engine does not know.
    case unknown
}

extension Engine {
    /// The peer at the other end of `connection`.
    ///
    /// Inlined, as is `isLoggedIn`: a call that only reads the engine passes a copy of it.
    @inline(__always)
    func caller(of connection: ConnectionID) -> Caller {
        if connection.isInProcess { return .appServer }
        guard isLoggedIn(connection) else { return .anonymous }
        switch connections[Int(connection.slot)].peer {
        case .notLoggedIn: return .anonymous
        case .appServer: return .appServer
        case .client(let session):
            return .client(
                session: session, account: AccountHandle(index: sessions[session].account))
        }
    }

    /// Whether the engine knows the peer at the other end of `connection`.
    @inline(__always)
    func isLoggedIn(_ connection: ConnectionID) -> Bool {
        if connection.isInProcess { return true }
        let slot = Int(connection.slot)
        guard slot < connections.count, connections[slot].generation == connection.generation
        else { return false }
        if case .notLoggedIn = connections[slot].peer { return false }
        return true
    }

    /// Why the peer of `connection` may not give such a command; nil if it may.
    ///
    /// To be checked before the parameters, before names are interned and limits are compared: a
    /// peer without permission learns nothing about them.
    public func refusal(of kind: CommandKind, from connection: ConnectionID) -> Refusal? {
        Self.refusal(of: kind, by: caller(of: connection))
    }

    /// Why the peer of `connection` may not give a command about this account; nil if it may. To be
    /// checked before the account's name is interned.
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

    /// The table of permissions. Clients may use every kind that is not listed as forbidden.
    static func refusal(of kind: CommandKind, by caller: Caller) -> Refusal? {
        switch (caller, kind) {
        case (.anonymous, .login): nil
        case (.anonymous, _): Refusal(.notLoggedIn)
        case (_, .login): Refusal(.alreadyLoggedIn)
        // The session has no end that could be postponed.
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
