import NIOCore
import TaskLoops

/// What answers the requests of connections, and what it lets these take.
protocol HTTPApplication: Sendable {
    var limits: HTTPLimits { get }
    var counters: HTTPCounters { get }
    var date: DateField { get }

    /// Says what becomes of a request, from its head. So what is rejected keeps no body, and no
    /// client without a key can have one kept.
    func plan(for head: RequestHead) -> RequestPlan
}

/// What becomes of a request.
struct RequestPlan: Sendable {
    /// Carries out the request, when its body is complete.
    typealias Action = @Sendable (_ body: [UInt8]) async -> Response

    enum Next: Sendable {
        case carryOut(Action)
        case reject(HTTPError)
    }

    /// The operation to count.
    let operation: Operation?
    /// For whom it holds its connection.
    let party: RequestParty
    let next: Next

    init(
        operation: Operation? = nil, for party: RequestParty = .full, _ action: @escaping Action
    ) {
        self.operation = operation
        self.party = party
        next = .carryOut(action)
    }

    init(operation: Operation? = nil, rejecting error: HTTPError) {
        self.operation = operation
        party = .anonymous
        next = .reject(error)
    }
}

extension HTTPConnection {
    /// What all connections share.
    struct Shared: Sendable {
        let application: any HTTPApplication
        let connections: ConnectionLimiter
        let loop: TaskLoop
        /// Seconds for which a connection may be without a request; may change at any time.
        let idleSeconds: NIOLoopBoundBox<Int>

        init(_ application: any HTTPApplication, on loop: any EventLoop) {
            self.application = application
            connections = ConnectionLimiter(application.limits, on: loop)
            self.loop = TaskLoop(loop)
            idleSeconds = NIOLoopBoundBox.makeBoxSendingValue(
                application.limits.idleSeconds, eventLoop: loop)
        }
    }
}
