import AsyncHTTPClient
public import Logging
public import PresenceGateway
import Synchronization

/// All endpoints: from `start` to `stop` they are posted what changes.
public final class Webhooks: Sendable {
    private let webhooks: [Webhook]
    /// Nil: there is nowhere to post to, and no threads are needed for it.
    private let client: HTTPClient?
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// Nothing is posted yet.
    public init(
        _ settings: WebhookSettings, positions: WebhookPositions,
        wallMilliseconds: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        guard !settings.endpoints.isEmpty else {
            (client, webhooks) = (nil, [])
            return
        }
        let poster = HTTPPoster(on: HTTPClient.defaultEventLoopGroup)
        client = poster.client
        let world = Webhook.World(
            poster: poster, positions: positions, wallMilliseconds: wallMilliseconds,
            logger: logger)
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
                Task {
                    await webhook.serve {
                        try await GatewayConnection.open(
                            socket: try connect(), on: HTTPClient.defaultEventLoopGroup,
                            for: .longLived, limits)
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
        try? await client?.shutdown()
    }

    /// What is counted of each endpoint, now.
    public func snapshot() -> [WebhookCounters] { webhooks.map(\.counters) }
}
