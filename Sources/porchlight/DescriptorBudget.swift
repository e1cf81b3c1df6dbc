import EventLoop
import PresencePush
import PresenceServer
import WebPush

/// How the descriptors of the process are shared out: to HTTP, webhooks, Web Push and fetches of
/// keys here, and what is left to clients by `AdmissionLimits`.
///
/// Each part has a bound that it keeps by itself, so that what is reserved is really free.
struct DescriptorBudget {
    /// Descriptors that the process may open.
    let descriptorsMax: Int
    /// Connections of the HTTP API.
    let httpConnectionsMax: Int
    /// Readers of the feed over HTTP.
    let feedReadersMax: Int
    private let httpListeners: Int
    private let xmppListeners: Int
    private let webhookCountMax: Int
    private let pushHostCount: Int
    private let furtherLoops: Int
    private let reserved: Int

    /// Shares out the descriptors of this process.
    init(_ settings: ServiceSettings) {
        self.init(settings, descriptorsMax: Descriptors.raiseMax())
    }

    /// Shares out `descriptorsMax` descriptors.
    init(_ settings: ServiceSettings, descriptorsMax: Int) {
        self.descriptorsMax = descriptorsMax
        let hasHTTP = settings.servesHTTP
        httpListeners = [settings.http, settings.tls.http].count { $0 != nil }
        xmppListeners = [settings.tls.xmpp, settings.tls.xmppOverTLS].count { $0 != nil }
        // An eighth for HTTP.
        httpConnectionsMax =
            hasHTTP ? min(settings.httpConnectionsMax, max(8, descriptorsMax / 8)) : 0
        feedReadersMax = hasHTTP ? min(32, max(4, descriptorsMax / 32)) : 0
        let webhooks = settings.webhooks
        furtherLoops = settings.configuration.descriptorsOfFurtherLoops
        reserved = settings.configuration.admission.descriptorsReserved
        let hosts = try? PushHosts(settings.push.hosts ?? PushChoices.hostsOfBrowsers)
        pushHostCount = settings.push.keyPath == nil ? 0 : hosts?.entries.count ?? 0
        webhookCountMax = webhooks.listPath != nil ? 16 : webhooks.url != nil ? 1 : 0
    }

    /// Connections that a listener of HTTP accepts before the first of them is looked at.
    private static let httpAcceptsAtOnce = 4
    /// A webhook's connection to its receiver, another one while the last is being closed, and two
    /// lookups of its host, each a socket and a pipe, that continue after their request has ended.
    private static let perWebhook = 6
    /// Connections to a push service, each with a lookup of its host, and what wakes the thread of
    /// them.
    private static let perPushHost = PushSenders.connectionsPerHostMax * 3 + 2
    /// A fetch of keys.
    private static let forKeys = 2
    /// With fewer connections of clients the service does not start.
    private static let clientsMin = 16

    /// What connections of clients leave to others.
    var elsewhere: Int {
        let http = httpConnectionsMax + httpListeners * Self.httpAcceptsAtOnce
        return http + xmppListeners + webhookCountMax * Self.perWebhook
            + pushHostCount * Self.perPushHost + Self.forKeys + furtherLoops
    }

    /// Does not serve with so few that clients would get none.
    func check() throws(SettingsError) {
        let least = max(AdmissionLimits.descriptorsMin, leastForClients)
        guard descriptorsMax < least else { return }
        let loops = furtherLoops > 0 ? ", \(furtherLoops) of them for several loops" : ""
        throw SettingsError(
            "The process may open \(descriptorsMax) descriptors and needs at least "
                + "\(least)\(loops): raise `ulimit -n`, or LimitNOFILE in a unit.")
    }

    /// With this many, others leave some to clients.
    private var leastForClients: Int {
        reserved + elsewhere + Self.clientsMin
    }
}
