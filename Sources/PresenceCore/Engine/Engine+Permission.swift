import Containers

/// The peer that sends a request.
enum Caller {
    /// A connection that has not logged in.
    case anonymous
    /// A session of an account.
    case client(session: UInt32, account: AccountHandle)
    /// A session of an app server.
    case appServer(AppServerRights)
}

extension Engine {
    /// The peer at the other end of `connection`.
    ///
    /// Inlined, as is `isLoggedIn`: a call that only reads the engine passes a copy of it.
    @inline(__always)
    func caller(of connection: ConnectionID) -> Caller {
        if connection.isInProcess { return .appServer(.all) }
        guard isLoggedIn(connection) else { return .anonymous }
        switch connections[Int(connection.slot)].peer {
        case .notLoggedIn: return .anonymous
        case .appServer(let rights): return .appServer(rights)
        case .client(let session):
            return .client(
                session: session, account: AccountHandle(index: sessions[session].account))
        }
    }

    /// The account of a client.
    func account(of connection: ConnectionID) throws(Rejection) -> AccountHandle {
        guard case .client(_, let account) = caller(of: connection) else {
            throw Rejection(.notLoggedIn)
        }
        return account
    }

    /// The connection in a slot on which an account is logged in, if there is one.
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
    public func rejection(of method: MethodName, from connection: ConnectionID) -> Rejection? {
        rejection(of: method, by: caller(of: connection))
    }

    /// Whether the peer of `connection` is an app server with a key that may only read.
    public func mayOnlyRead(_ connection: ConnectionID) -> Bool {
        if case .appServer(.reading) = caller(of: connection) { true } else { false }
    }

    /// Rejects a method that the peer of `connection` has no permission for.
    ///
    /// It changes nothing, as the next: it is mutating so that the engine is not copied for a call.
    public mutating func authorise(
        _ method: MethodName, from connection: ConnectionID
    ) throws(Rejection) {
        if let rejection = rejection(of: method, by: caller(of: connection)) { throw rejection }
    }

    /// A command, if the peer of `connection` has permission for it and for the account that it
    /// names. To be called before limits are compared. Interns nothing.
    public mutating func authorise(
        _ command: consuming Command, _ texts: TextSource, from connection: ConnectionID
    ) throws(Rejection) -> AuthorisedCommand {
        let caller = caller(of: connection)
        if let rejection = rejection(of: command.name, by: caller) { throw rejection }
        if case .account(let name) = command.subject {
            if case .client(_, let own) = caller {
                if let name, find(name, texts) != own {
                    throw Rejection(.forbidden, field: .account)
                }
            } else if name == nil {
                throw Rejection(.missingField, field: .account)
            }
        }
        return AuthorisedCommand(command: command, connection: connection, caller: caller)
    }

    @inline(__always)
    private func rejection(of method: MethodName, by caller: Caller) -> Rejection? {
        if let rejection = Self.rejection(of: method, by: caller) { return rejection }
        return method.isAboutMessages && settings.messages == .off ? Rejection(.forbidden) : nil
    }

    private static func rejection(of method: MethodName, by caller: Caller) -> Rejection? {
        switch (method.rules.permission, caller) {
        case (.appServers, .appServer(.reading)), (.everySession, .appServer(.reading)):
            method.rules.effect == .reads ? nil : Rejection(.readOnlyKey)
        case (.anonymous, .anonymous), (.clients, .client), (.appServers, .appServer),
            (.everySession, .client), (.everySession, .appServer):
            nil
        case (.anonymous, .client), (.anonymous, .appServer): Rejection(.alreadyLoggedIn)
        case (.clients, .anonymous), (.appServers, .anonymous), (.everySession, .anonymous):
            Rejection(.notLoggedIn)
        case (.clients, .appServer), (.appServers, .client): Rejection(.forbidden)
        }
    }

    /// The account that a command is about: a client's own, or the one an app server names.
    mutating func subject(
        _ name: ByteRange?, _ texts: TextSource, of request: AuthorisedCommand
    ) throws(Rejection) -> AccountHandle {
        if case .client(_, let own) = request.caller { return own }
        guard let name else { preconditionFailure("authorised, and about no account") }
        return try intern(name, texts)
    }
}

/// A command whose peer has permission for it, and for the account that it names.
///
/// Only `Engine.authorise` makes one. To be handled before anything else is.
public struct AuthorisedCommand {
    /// The command.
    public let command: Command
    /// The connection that waits for the response.
    public let connection: ConnectionID
    let caller: Caller

    fileprivate init(command: consuming Command, connection: ConnectionID, caller: Caller) {
        self.command = command
        self.connection = connection
        self.caller = caller
    }

    /// Whether it is of a session of an account, and not of an app server.
    var isOfClient: Bool {
        if case .client = caller { return true }
        return false
    }

    /// The session that requests it, and not an app server.
    var client: ClientSession {
        get throws(Rejection) {
            guard case .client(let session, let account) = caller else {
                throw Rejection(.forbidden)
            }
            return ClientSession(session: session, account: account, connection: connection)
        }
    }
}

/// A session that requests something.
struct ClientSession {
    let session: UInt32
    let account: AccountHandle
    let connection: ConnectionID
}
