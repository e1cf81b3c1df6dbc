import Deliveries
import Logging
import OutgoingHTTP
import PresenceGateway
import PresencePush
import PresenceWebhooks
import TaskLoops
import WebPush

/// What the service sends to others by itself: webhooks and Web Push.
struct Senders: Sendable {
    /// The public key that web pages subscribe to pushes with; nil: there is no Web Push.
    let pushKey: String?
    private let webhooks: Webhooks
    private let push: PushSenders
    private let http: OutgoingHTTP

    /// Nothing is sent before `start`.
    init(
        _ files: ServiceFiles, over http: OutgoingHTTP, directory: String, logger: Logger
    ) {
        self.http = http
        pushKey = files.push?.key.publicText
        webhooks = Webhooks(files.webhooks, over: http, directory: directory, logger: logger)
        push = PushSenders(files.push, on: http.loop, directory: directory, logger: logger)
    }

    /// Begins to send, what the service behind `service` has.
    func start(_ service: ServiceReference) {
        webhooks.start(over: Gateway(on: http.loop.eventLoop, to: service))
        push.start(over: Gateway(on: http.loop.eventLoop, to: service))
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
