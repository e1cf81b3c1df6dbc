/// A message as a session is sent it.
public struct DeliveredMessage: Hashable, Sendable {
    /// The message. It is the same each time that the message is sent.
    public var id: MessageID
    /// Who wrote it; empty: the service.
    public var from: [UInt8]
    /// The device on which it was written; empty if that is not known.
    public var fromDevice: [UInt8]
    /// When it was requested.
    public var time: Wall
    /// The text; empty if an XMPP client has sent a message without one.
    public var body: [UInt8]
    /// The app's text; empty if there is none.
    public var ext: [UInt8]
    /// The sender's own id; empty if there is none.
    public var ref: [UInt8]

    /// What else it has as a stanza; nil: no XMPP client has sent it.
    public var stanza: StanzaParts<[UInt8]>?

    /// A message.
    public init(
        id: MessageID, from: [UInt8] = [], fromDevice: [UInt8] = [], time: Wall, body: [UInt8],
        ext: [UInt8] = [], ref: [UInt8] = [], stanza: StanzaParts<[UInt8]>? = nil
    ) {
        self.id = id
        self.from = from
        self.fromDevice = fromDevice
        self.time = time
        self.body = body
        self.ext = ext
        self.ref = ref
        self.stanza = stanza
    }
}
