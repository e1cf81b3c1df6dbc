/// What a session has been sent of the messages for it, and has not taken.
///
/// It is sent as much as fits in a window, which is the whole flow control: what is taken makes
/// room. There is no position, since what it may be sent changes with its priority.
struct MessageReader {
    /// The most bytes that a session is sent and has not taken, unless one message has more.
    static let windowBytes = 65_536

    /// Whether messages are sent: its login list is complete.
    private(set) var isOpen = false
    /// In the order in which they were sent.
    private var untaken: [SizedMessage] = []
    private var untakenBytes = 0
    /// Messages whose contents are being read.
    private(set) var fetching: [WaitingKey] = []
    /// Whether nothing is left to be sent to it, so that what comes now is sent at once.
    private(set) var isCurrent = false

    /// From now on it is sent messages.
    mutating func open() { isOpen = true }

    /// It may get other messages than before: those that wait are looked through.
    mutating func lookAgain() { isCurrent = false }

    /// Whether the contents of more messages may be read now.
    var mayFetch: Bool {
        isOpen && !isCurrent && fetching.isEmpty && untakenBytes < Self.windowBytes
    }

    /// A message that it may get has become durable. Returns whether it is sent at once: it is the
    /// next, and fits in the window. O(1).
    mutating func noteNew(_ message: SizedMessage) -> Bool {
        guard isOpen, isCurrent, fetching.isEmpty,
            untakenBytes == 0 || untakenBytes + Int(message.byteCount) <= Self.windowBytes
        else {
            isCurrent = false
            return false
        }
        noteSent(message)
        return true
    }

    /// Begins to read the contents of messages: those of `candidates`, in order, that have not been
    /// sent and fit in the window. Returns them; none while others are being read.
    mutating func fetch(
        from candidates: some Sequence<SizedMessage>
    ) -> ArraySlice<WaitingKey> {
        guard mayFetch else { return [] }
        var byteCount = untakenBytes
        isCurrent = true
        for message in candidates where !wasSent(message.key) {
            isCurrent = false
            byteCount += Int(message.byteCount)
            guard byteCount <= Self.windowBytes || byteCount == Int(message.byteCount) else {
                break
            }
            fetching.append(message.key)
        }
        return fetching[...]
    }

    /// Whether it was sent a message that it has not taken.
    func wasSent(_ key: WaitingKey) -> Bool { untaken.contains { $0.key == key } }

    /// The contents have been read, or could not be.
    mutating func endFetch() { fetching.removeAll(keepingCapacity: true) }

    /// Notes that a message is sent.
    mutating func noteSent(_ message: SizedMessage) {
        untaken.append(message)
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
