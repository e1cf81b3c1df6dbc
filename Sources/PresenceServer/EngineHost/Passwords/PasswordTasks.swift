import Containers
import EventLoop
import Passwords
import PresenceCore

/// The tasks with passwords that are in progress, and what is counted of them.
struct PasswordTasks {
    /// Compares passwords and derives keys; nil without passwords.
    let thread: (any PasswordDeriving)?
    /// Of this database alone.
    private let secret: [UInt8]
    /// By number.
    private var tasks: [UInt64: Running] = [:]
    private var lastNumber: UInt64 = 0
    /// The connections that wait for one, each for one.
    private var waiting: Set<ConnectionID> = []
    /// Tasks of each network, where there are some.
    private var countsByNetwork: [ClientNetwork: Int] = [:]
    /// The accounts whose stored keys are being changed, each by one task.
    private var accountsInChange: Set<[UInt8]> = []
    private var registrations: NetworkBuckets
    /// Passwords that are compared, and those that wait for that.
    var comparisons = PasswordComparisons()
    /// Connections that prove something by a password.
    var proofs = PasswordProofs()

    /// Accounts that have a password.
    private(set) var storedCount: Int
    /// Tasks whose keys are being stored.
    private(set) var storingCount = 0
    var counters = Counters()

    struct Counters: Sendable {
        /// Logins with a password that was compared, and those of which it was another.
        var compared = 0
        var mismatched = 0
        /// Accounts that were registered.
        var registered = 0
        /// Tasks rejected because there were too many.
        var rejected = 0
        /// Logins rejected because too many passwords of their address were wrong.
        var rejectedForGuesses = 0
    }

    /// A task that is in progress.
    struct Running {
        var task: PasswordTask
        var step: Step
    }

    enum Step {
        /// The stored keys are being read.
        case reading
        /// What was typed is compared, or keys are derived; whether the account had keys.
        case deriving(hadKeys: Bool)
        /// The change is being stored; whether the account had keys.
        case storing(hadKeys: Bool)
    }

    init(
        stored: StoredPasswords = StoredPasswords(), seed: UInt64,
        thread: (any PasswordDeriving)? = nil
    ) {
        self.thread = thread
        secret = stored.secret
        storedCount = stored.count
        registrations = NetworkBuckets(seed: seed)
    }

    /// Tasks in progress.
    var count: Int { tasks.count }

    /// Whether one more may be begun. A network has at most as many as it leaves to others, so that
    /// several of them leave some, too.
    func hasRoom(for network: ClientNetwork?, _ limits: AdmissionLimits) -> Bool {
        let free = limits.tokensMax - tasks.count
        guard let network else { return free > 0 }
        return countsByNetwork[network, default: 0] < free
    }

    /// The keys that an account without a password appears to have.
    func decoys(for account: [UInt8]) -> StoredKeys {
        StoredKeys(decoyFor: account, secret: secret)
    }

    /// Begins a task. Returns its number; nil: the account is being changed by another.
    mutating func begin(_ task: PasswordTask) -> UInt64? {
        if task.goal.isChange {
            guard accountsInChange.insert(task.account).inserted else { return nil }
        }
        lastNumber += 1
        tasks[lastNumber] = Running(task: task, step: .reading)
        waiting.insert(task.connection)
        if !task.goal.isChange { proofs.begin(task.connection, task.account) }
        if let network = task.origin.network { countsByNetwork[network, default: 0] += 1 }
        return lastNumber
    }

    /// Enters the next step of a task.
    mutating func enter(_ number: UInt64, _ step: Step) {
        if case .storing = step { storingCount += 1 }
        tasks[number]?.step = step
    }

    /// The task with this number, to be continued or ended.
    func running(_ number: UInt64) -> Running {
        guard let running = tasks[number] else {
            preconditionFailure("a task that is not in progress")
        }
        return running
    }

    /// Whether the connection of a task still waits for it.
    func isAwaited(_ task: PasswordTask) -> Bool { waiting.contains(task.connection) }

    /// Ends a task. Returns whether its connection waits for it.
    mutating func end(_ number: UInt64) -> Bool {
        guard let ended = tasks.removeValue(forKey: number) else { return false }
        if case .storing = ended.step { storingCount -= 1 }
        leave(ended.task.origin.network)
        if ended.task.goal.isChange { accountsInChange.remove(ended.task.account) }
        return waiting.remove(ended.task.connection) != nil
    }

    private mutating func leave(_ network: ClientNetwork?) {
        guard let network, let count = countsByNetwork[network] else { return }
        countsByNetwork[network] = count == 1 ? nil : count - 1
    }

    /// Notes that a change is stored.
    mutating func noteStored(_ goal: PasswordTask.Goal, hadKeys: Bool) {
        switch goal {
        case .logIn, .challenge: break
        case .register:
            storedCount += 1
            counters.registered += 1
        case .set: storedCount += hadKeys ? 0 : 1
        case .remove: storedCount -= 1
        }
    }

    /// Counts a registration from an address. Returns for how many milliseconds that may not
    /// register another account; nil: it may.
    mutating func register(
        from network: ClientNetwork?, _ pace: Pace?, at now: Mono
    ) -> UInt64? {
        if let wait = registrations.wait(of: network, pace, at: now) { return wait }
        registrations.charge(PasswordTasks.registrationCost, to: network, pace, at: now)
        return nil
    }

    /// So that a rate of one per second is one registration in ten seconds.
    private static let registrationCost = 10

    /// Forgets a connection that has ended. What is being stored is stored all the same.
    mutating func forget(_ connection: ConnectionID) {
        waiting.remove(connection)
        proofs.end(connection)
    }
}
