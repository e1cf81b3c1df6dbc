import PresenceWire

/// The protocol that a client speaks, and the request of it that is in progress.
///
/// Native frames and the messages of a WebSocket are the same requests: which of them a connection
/// carries is decided by its first byte, and is the state of its `InputSplitter`.
enum ClientProtocol {
    /// There is no connection.
    case none
    /// Native frames, a WebSocket, or not decided yet. The next message is read when the request in
    /// progress has been answered.
    case native(InputSplitter, awaiting: RequestID?)
    /// An XMPP stream, perhaps in the messages of a WebSocket.
    case xmpp(XMPPClient)

    /// One of a listener's new connections.
    static var undecided: Self { .native(InputSplitter(), awaiting: nil) }

    /// Whether a request is in progress.
    var isWaiting: Bool {
        switch self {
        case .none, .native(_, nil): false
        case .native(_, _?): true
        case .xmpp(let client): client.awaiting != nil
        }
    }

    /// The native request in progress.
    var awaiting: RequestID? {
        if case .native(_, let id?) = self { id } else { nil }
    }

    /// Who speaks, without what a native client has kept: that would be copied.
    var speaker: Speaker {
        switch self {
        case .none: .none
        case .native: .native
        case .xmpp(let client): .xmpp(client)
        }
    }

    /// What splits the bytes of a native client. It is changed where it is, and not copied.
    var splitter: InputSplitter {
        get {
            guard case .native(let splitter, _) = self else {
                preconditionFailure("messages of another protocol")
            }
            return splitter
        }
        _modify {
            guard case .native(var splitter, let awaiting) = self else {
                preconditionFailure("messages of another protocol")
            }
            self = .none
            defer { self = .native(splitter, awaiting: awaiting) }
            yield &splitter
        }
    }

    /// The code with which the client has closed its WebSocket.
    var endCode: Int? {
        switch self {
        case .none: nil
        case .native(let splitter, _): splitter.endCode
        case .xmpp(let client): client.webSocket?.endCode
        }
    }

    /// A native client waits for the answer to a request.
    mutating func wait(for id: RequestID) {
        guard case .native(let splitter, nil) = self else {
            preconditionFailure("two requests at a time")
        }
        self = .none
        self = .native(splitter, awaiting: id)
    }

    /// Nothing is read any more: what waits is dropped.
    mutating func end() {
        switch self {
        case .none: break
        case .native: self = .undecided
        case .xmpp(let client): client.dropWhatWaits()
        }
    }

    /// Whether the engine host may know the connection before it is served: its login is in
    /// progress, or it may have proved to be an account, which precedes the login of an XMPP
    /// client.
    var mayHaveSession: Bool {
        switch self {
        case .none, .native(_, nil): false
        case .native(_, _?), .xmpp: true
        }
    }

    /// Bytes that the client has sent and that were not carried out.
    var bytesBuffered: Int {
        switch self {
        case .none: 0
        case .native(let splitter, _): splitter.bytesBuffered
        case .xmpp(let client): client.bytesBuffered
        }
    }

    /// Whether a message has begun that is not complete.
    var isInMessage: Bool {
        switch self {
        case .none: false
        case .native(let splitter, _): splitter.bytesBuffered > 0 || splitter.isInMessage
        case .xmpp(let client): client.isInStanza
        }
    }

    /// Whether what the client has sent can be kept as it is.
    func canPause(before chunk: RawSpan, at offset: Int) -> Bool {
        switch self {
        case .none, .xmpp: true
        case .native(let splitter, _): splitter.canPause(before: chunk, at: offset)
        }
    }

    /// Keeps what the client has sent, since it is not carried out now.
    mutating func keep(_ chunk: RawSpan, from offset: inout Int) {
        switch speaker {
        case .none: break
        case .native: splitter.keep(chunk, from: &offset)
        case .xmpp(let client): client.keep(chunk, from: &offset)
        }
    }

    /// No request is in progress any more.
    mutating func stopWaiting() {
        switch self {
        case .none, .native(_, nil): break
        case .native(let splitter, _?):
            self = .none
            self = .native(splitter, awaiting: nil)
        case .xmpp(let client): client.awaiting = nil
        }
    }
}

/// Who speaks in a slot; a native client is known by the slot alone. The functions that differ with
/// the protocol are chosen by it, in `Clients+Protocol.swift`.
enum Speaker {
    case none
    case native
    case xmpp(XMPPClient)
}
