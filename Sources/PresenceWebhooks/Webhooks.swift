public import Deliveries
public import Logging
public import OutgoingHTTP
public import PresenceGateway
import Synchronization
import TaskLoops

/// The webhooks of all endpoints. They post from `start` to `stop`.
public final class Webhooks: Sendable {
    private let makeWebhooks: @Sendable (ReaderPositions) -> [Webhook]
    private let http: OutgoingHTTP
    private let running = Mutex<(webhooks: [Webhook], tasks: [Task<Void, Never>])>(([], []))

    /// Nothing is posted before `start`.
    public init(
        _ settings: WebhookSettings, over http: OutgoingHTTP,
        wallMilliseconds: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        self.http = http
        makeWebhooks = { positions in
            let environment = Webhook.Environment(
                delivery: HTTPDelivery(http: http), positions: positions, loop: http.loop,
                wallMilliseconds: wallMilliseconds, logger: logger)
            return settings.endpoints.enumerated().map { number, endpoint in
                Webhook(endpoint, settings, seed: settings.seed &+ UInt64(number), environment)
            }
        }
    }

    /// Begins to read and to post, each from its position.
    public func start(over gateway: Gateway, from positions: ReaderPositions) {
        running.withLock { running in
            guard running.tasks.isEmpty else { return }
            running.webhooks = makeWebhooks(positions)
            running.tasks = running.webhooks.map { webhook in
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
        let tasks = running.withLock { $0.tasks }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// The current counters of each endpoint.
    public func snapshot() -> [WebhookCounters] {
        running.withLock { $0.webhooks }.map(\.counters)
    }
}
