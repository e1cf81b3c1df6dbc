/// Clients in a ring: each sends messages to the next one, and takes what it is sent at once.
///
/// A message that is lost, comes twice or overtakes another fails the run.
final class MessageRing: LoadObserver {
    private(set) var sentCount = 0
    /// Messages that were delivered. Each is taken at once.
    private(set) var count = 0
    /// From when a message was due until it was delivered.
    private(set) var times = Latencies()
    private let load: Load
    private let clients: Range<Int>
    /// When each message to a client that has not come was due, in order.
    private var due: [[UInt64]]
    /// The id of the last message that each client was sent.
    private var newest: [[UInt8]]
    private var frame: [UInt8] = []

    init(_ load: Load, _ clients: Range<Int>) {
        self.load = load
        self.clients = clients
        due = Array(repeating: [], count: clients.count)
        newest = Array(repeating: [], count: clients.count)
    }

    /// Appends the request with which a client sends a message to the next one.
    func appendSend(by client: Int, bodyBytes: Int, due: UInt64, to bytes: inout [UInt8]) {
        let recipient = client + 1 == clients.upperBound ? clients.lowerBound : client + 1
        self.due[recipient - clients.lowerBound].append(due)
        sentCount += 1
        bytes.appendSend(to: recipient, bodyBytes: bodyBytes, load.names)
    }

    /// Waits until all messages are taken.
    func settle() throws(BenchError) {
        try load.wait(for: "messages to be taken", atMostSeconds: 60) { [unowned self] in
            count >= sentCount && takesOutstanding == 0
        }
    }

    private var takesOutstanding = 0

    func delivered(_ messages: ScannedMessages, to client: Int) {
        guard clients.contains(client) else {
            return load.fail("\(load.names.text(client)) was sent a message of others.")
        }
        let place = client - clients.lowerBound
        guard messages.count <= due[place].count else {
            return load.fail("\(load.names.text(client)) was sent a message twice.")
        }
        guard newest[place].lexicographicallyPrecedes(messages.last) else {
            return load.fail("\(load.names.text(client)) was sent messages in the wrong order.")
        }
        newest[place] = messages.last
        for began in due[place].prefix(messages.count) { times.record(from: began, to: load.now) }
        due[place].removeFirst(messages.count)
        count += messages.count
        frame.removeAll(keepingCapacity: true)
        frame.appendTake(messages.last)
        takesOutstanding += 1
        load.request(frame, by: client)
    }

    func answered(_ kind: RequestKind, of client: Int, in body: RawSpan) {
        if kind == .take { takesOutstanding -= 1 }
    }
}
