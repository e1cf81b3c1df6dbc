import EventLoop

/// What connects to the service: what the simulation knows of it, whatever it speaks.
class SimulatedPeer {
    let account: String
    let device: String
    var stream: StreamID?
    /// Whether a connection of it has ended while it waited for a response. The service does not
    /// read from a connection that waits for the disk, and so does not notice its end.
    var hasLeftUnanswered = false
    var isLoggedIn = false
    /// It has vanished: it neither reads nor sends nor says so.
    var isDead = false
    /// It does not read for now.
    var isStalled = false
    /// What carries what it sends and receives; nil: its connection does.
    var webSocket: SimulatedWebSocket?
    /// When the token ends that its session was begun or refreshed with last; nil: it has none.
    var tokenEnds: Int64?
    /// Since when its session is sent messages, by the ledger of messages; nil: it is not, as far
    /// as it knows.
    var readingSince: Int?
    /// The bodies of the messages that its session was sent.
    private var sent: Set<String> = []
    /// When it was last asked to change its availability, by the ledger of messages.
    var lastShow = 0
    /// When the service last got something from it.
    var lastAlive: UInt64 = 0
    var violations: [String] = []
    /// What has become of its requests with passwords, until the simulation takes note.
    var passwordOutcomes: [PasswordOutcome] = []
    /// Methods that have succeeded, reasons of rejections, and of closes: how often.
    private(set) var met: [String: Int] = [:]

    init(account: String, device: String) {
        self.account = account
        self.device = device
    }

    /// Where its session is known by the service.
    var name: String { "\(account)/\(device)" }

    /// What it speaks.
    var speaksXMPP: Bool { false }

    /// Whether something that it has sent is not answered yet.
    var isWaiting: Bool { false }

    /// Whether its list of states is complete, or it is sent none.
    var hasList: Bool { true }

    /// Whether its device must be shown online.
    var isShown: Bool { isLoggedIn && !isDead }

    /// Whether its session certainly is sent messages that are for any device.
    var takesAnyMessage: Bool { false }

    /// Whether what its session was sent and has not taken certainly leaves room for more.
    var hasRoom: Bool { true }

    /// What it sends while it has nothing to say.
    var signOfLife: [UInt8] { [0, 0, 0, 0] }

    /// Takes in what the service has sent.
    func receive(_ bytes: [UInt8]) {}

    /// What it has to send because of what it has received.
    func takeReplies() -> [UInt8] { [] }

    func connectionEnded() {
        webSocket = nil
        hasLeftUnanswered = hasLeftUnanswered || isWaiting
        stream = nil
        tokenEnds = nil
        readingSince = nil
        sent = []
        isLoggedIn = false
        isDead = false
        isStalled = false
    }

    /// Its session is sent a message.
    func noteSent(_ body: String) {
        if !sent.insert(body).inserted { violations.append("\(body) comes twice") }
    }

    /// Whether its session was sent a message.
    func wasSent(_ body: String) -> Bool { sent.contains(body) }

    /// Notes that something has happened that a run should meet.
    func meet(_ what: String) { met[what, default: 0] += 1 }
}
