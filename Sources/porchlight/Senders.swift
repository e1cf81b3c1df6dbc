import Deliveries
import Logging
import OutgoingHTTP
import PresenceCore
import PresenceGateway
import PresencePush
import PresenceServer
import PresenceWebhooks
import TaskLoops
import WebPush

/// What the service sends to others by itself: webhooks and Web Push.
struct Senders: Sendable {
    /// What clients may have pushed; nil: there is no Web Push.
    let offer: PushOffer?
    private let webhooks: Webhooks
    private let push: PushSenders
    private let pushHosts: [String]
    private let http: OutgoingHTTP
    /// Where earlier versions stored positions.
    private let directory: String

    /// Nothing is sent before `start`.
    init(
        _ files: ServiceFiles, over http: OutgoingHTTP, directory: String, logger: Logger
    ) {
        self.http = http
        self.directory = directory
        pushHosts = files.push?.hosts.entries.map(\.text) ?? []
        offer = files.push.map { push in
            PushOffer(
                key: push.key.publicText,
                hosts: push.hosts.entries.map(\.text).joined(separator: ","),
                check: { push.hosts.rejection(of: $0) })
        }
        webhooks = Webhooks(files.webhooks, over: http, logger: logger)
        push = PushSenders(files.push, on: http.loop, logger: logger)
    }

    /// Begins to send what the service behind `service` has, each from its position.
    func start(_ service: ServiceReference, from readers: StoredReaders) {
        let ofPushes = PositionRows(readers, of: "push", directory)
        webhooks.start(
            over: Gateway(on: http.loop.eventLoop, to: service),
            from: ReaderPositions(PositionRows(readers, of: "webhook", directory)))
        push.start(
            over: Gateway(on: http.loop.eventLoop, to: service), from: ReaderPositions(ofPushes))
        // So that one that is configured again begins then, not with all that has waited since.
        http.loop.task { [pushHosts] in await ofPushes.forget(allBut: pushHosts) }
    }

    /// Stops, and waits for that.
    func stop() {
        http.loop.wait { [webhooks, push] in
            await webhooks.stop()
            await push.stop()
        }
    }

    /// In the Prometheus text format.
    func metricsText() -> [UInt8] { webhooks.metricsText() + push.metricsText() }
}
