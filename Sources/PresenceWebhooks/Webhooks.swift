public import Logging
public import OutgoingHTTP
public import PresenceGateway
import Synchronization
import TaskLoops

/// All endpoints: from `start` to `stop` they are posted what changes.
public final class Webhooks: Sendable {
    private let webhooks: [Webhook]
    private let http: OutgoingHTTP
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// Nothing is posted before `start`.
    public init(
        _ settings: WebhookSettings, over http: OutgoingHTTP, positions: WebhookPositions,
        wallMilliseconds: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        self.http = http
        let world = Webhook.World(
            poster: HTTPPoster(http: http), positions: positions, loop: http.loop,
            wallMilliseconds: wallMilliseconds, logger: logger)
        webhooks = settings.endpoints.enumerated().map { number, endpoint in
            Webhook(endpoint, settings, seed: settings.seed &+ UInt64(number), world)
        }
    }

    /// Begins to read and to post. `connect` gives a socket that is connected to the service as an
    /// app server's.
    public func start(
        _ limits: ConnectionLimits = ConnectionLimits(),
        connect: @escaping @Sendable () throws -> CInt
    ) {
        tasks.withLock { tasks in
            guard tasks.isEmpty else { return }
            tasks = webhooks.map { webhook in
                http.loop.task { [http] in
                    await webhook.serve {
                        try await GatewayConnection.open(
                            socket: try connect(), on: http.loop.eventLoop, for: .longLived,
                            limits)
                    }
                }
            }
        }
    }

    /// Ends, and waits for that: what is under way is given up, and posted again after the next
    /// start.
    public func stop() async {
        let running = tasks.withLock { $0 }
        for task in running { task.cancel() }
        for task in running { await task.value }
    }

    /// What is counted of each endpoint, now.
    public func snapshot() -> [WebhookCounters] { webhooks.map(\.counters) }
}
