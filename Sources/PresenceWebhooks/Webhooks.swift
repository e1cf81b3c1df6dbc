public import Deliveries
public import Logging
public import OutgoingHTTP
public import PresenceGateway
import Synchronization
import TaskLoops

/// The webhooks of all endpoints. They post from `start` to `stop`.
public final class Webhooks: Sendable {
    private let webhooks: [Webhook]
    private let http: OutgoingHTTP
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// Nothing is posted before `start`.
    public init(
        _ settings: WebhookSettings, over http: OutgoingHTTP, positions: ReaderPositions,
        wallMilliseconds: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        self.http = http
        let environment = Webhook.Environment(
            delivery: HTTPDelivery(http: http), positions: positions, loop: http.loop,
            wallMilliseconds: wallMilliseconds, logger: logger)
        webhooks = settings.endpoints.enumerated().map { number, endpoint in
            Webhook(endpoint, settings, seed: settings.seed &+ UInt64(number), environment)
        }
    }

    /// Begins to read and to post.
    public func start(over gateway: Gateway) {
        tasks.withLock { tasks in
            guard tasks.isEmpty else { return }
            tasks = webhooks.map { webhook in
                http.loop.task {
                    await webhook.serve { stream, cursor in
                        switch stream {
                        case .events: try await gateway.openFeed(after: cursor)
                        case .undelivered: try await gateway.openUndelivered(from: cursor)
                        }
                    }
                }
            }
        }
    }

    /// Stops, and returns when every webhook has stopped. Batches in flight are abandoned, and
    /// posted again after the next start.
    public func stop() async {
        let running = tasks.withLock { $0 }
        for task in running { task.cancel() }
        for task in running { await task.value }
    }

    /// The current counters of each endpoint.
    public func snapshot() -> [WebhookCounters] { webhooks.map(\.counters) }
}
