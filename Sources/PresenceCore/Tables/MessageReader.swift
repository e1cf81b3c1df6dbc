/// What a session has been sent of the messages for it, and has not taken.
///
/// It is sent as much as fits in a window, which is the whole flow control: what is taken makes
/// room. There is no position, since what it may be sent changes with its priority.
struct MessageReader {
    /// The most bytes that a session is sent and has not taken, unless one message has more.
    static let windowBytes = 65_536

    /// A message that was sent.
    private struct Untaken {
        let key: WaitingKey
        let byteCount: UInt32
    }

    /// Whether messages are sent: its login list is complete.
    private(set) var isOpen = false
    /// In the order in which they were sent.
    private var untaken: [Untaken] = []
    private var untakenBytes = 0
    /// Messages whose contents are being read.
    private(set) var fetching: [WaitingKey] = []

    /// From now on it is sent messages.
    mutating func open() { isOpen = true }

    /// Whether the contents of more messages may be read now.
    var mayFetch: Bool { isOpen && fetching.isEmpty && untakenBytes < Self.windowBytes }

    /// Begins to read the contents of messages: those of `candidates`, in order, that have not been
    /// sent and fit in the window. Returns them; none while others are being read.
    mutating func fetch(
        from candidates: some Sequence<WaitingMessage>
    ) -> ArraySlice<WaitingKey> {
        guard mayFetch else { return [] }
        var byteCount = untakenBytes
        for message in candidates where !wasSent(message.key) {
            byteCount += Int(message.byteCount)
            guard byteCount <= Self.windowBytes || byteCount == Int(message.byteCount) else {
                break
            }
            fetching.append(message.key)
        }
        return fetching[...]
    }

    private func wasSent(_ key: WaitingKey) -> Bool { untaken.contains { $0.key == key } }

    /// The contents have been read, or could not be.
    mutating func endFetch() { fetching.removeAll(keepingCapacity: true) }

    /// Notes that a message is sent.
    mutating func noteSent(_ message: WaitingMessage) {
        untaken.append(Untaken(key: message.key, byteCount: message.byteCount))
        untakenBytes += Int(message.byteCount)
    }

    /// Takes a message and all that were sent before it. Returns them; none if it was not sent.
    ///
    /// A session is sent a message once, since of those with one number each is for another device.
    mutating func take(_ message: MessageID) -> [WaitingKey] {
        guard let place = untaken.firstIndex(where: { $0.key.message == message }) else {
            return []
        }
        let taken = untaken[...place]
        untakenBytes -= taken.reduce(0) { $0 + Int($1.byteCount) }
        defer { untaken.removeFirst(taken.count) }
        return taken.map(\.key)
    }
}
