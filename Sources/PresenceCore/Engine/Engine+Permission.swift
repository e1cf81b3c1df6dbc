import Containers

/// The peer that sends a request.
enum Caller {
    /// A connection that has not logged in.
    case anonymous
    /// A session of an account.
    case client(session: UInt32, account: AccountHandle)
    /// A session of an app server.
    case appServer
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

    /// The connection in a slot on which an account is logged in; nil: there is none.
    public func connection(inSlot slot: UInt32) -> ConnectionID? {
        guard Int(slot) < connections.count, case .client = connections[Int(slot)].peer else {
            return nil
        }
        return ConnectionID(slot: slot, generation: connections[Int(slot)].generation)
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

    /// Why the peer of `connection` has no permission for a method; nil if it has.
    ///
    /// To be checked before the parameters: a peer without permission learns nothing about them.
    public func refusal(of method: MethodName, from connection: ConnectionID) -> Refusal? {
        Self.refusal(of: method, by: caller(of: connection))
    }

    /// Why the peer of `connection` has no permission for a command about the account that it
    /// names; nil if it has. To be checked before limits are compared. Interns nothing.
    public func refusal(
        of command: Command, _ texts: TextSource, from connection: ConnectionID
    ) -> Refusal? {
        guard case .account(let name) = command.subject else { return nil }
        switch caller(of: connection) {
        case .anonymous: return Refusal(.notLoggedIn)
        case .client(_, let own):
            guard let name, find(name, texts) != own else { return nil }
            return Refusal(.forbidden, field: .account)
        case .appServer: return name == nil ? Refusal(.missingField, field: .account) : nil
        }
    }

    static func refusal(of method: MethodName, by caller: Caller) -> Refusal? {
        switch (method.rules.permission, caller) {
        case (.anonymous, .anonymous), (.clients, .client), (.appServers, .appServer),
            (.everySession, .client), (.everySession, .appServer):
            nil
        case (.anonymous, .client), (.anonymous, .appServer): Refusal(.alreadyLoggedIn)
        case (.clients, .anonymous), (.appServers, .anonymous), (.everySession, .anonymous):
            Refusal(.notLoggedIn)
        case (.clients, .appServer), (.appServers, .client): Refusal(.forbidden)
        }
    }

    /// The account that a command is about: a client's own, or the one an app server names.
    mutating func subject(
        _ name: ByteRange?, _ texts: TextSource, of caller: Caller
    ) throws(Refusal) -> AccountHandle {
        switch caller {
        case .client(_, let own):
            if let name, find(name, texts) != own { throw Refusal(.forbidden, field: .account) }
            return own
        case .appServer:
            guard let name else { throw Refusal(.missingField, field: .account) }
            return try intern(name, texts)
        case .anonymous:
            throw Refusal(.notLoggedIn)
        }
    }
}
