import Containers
import Outboxes
import PresenceCore

@testable import PresenceServer

// The settings of a run: drawn by the seed, and drawn again when the service is told to reload.

extension Simulation {
    /// What no configuration goes beyond, so that it holds over reloads.
    enum Bound {
        static let outboxBytesMax = 3_000
        static let subscriptionsPerAccountMax = 12
        static let sessionsPerAccountMax = 4
        static let disconnectGraceSeconds = 5
        static let restartGraceSeconds = 30
        static let statesPerFrameMax = 5
    }

    static func someConfiguration(_ random: inout SplitMix64) -> Configuration {
        var configuration = Configuration()
        configuration.switchOffPace()
        configuration.authenticator = SimulatedAuthenticator()
        drawXMPP(&configuration, &random)
        drawPaces(&configuration, &random)
        configuration.engine.subscribersPerSlice = Int.random(in: 1...4, using: &random)
        configuration.engine.limits.statesPerFrameMax = Int.random(
            in: 1...Bound.statesPerFrameMax, using: &random)
        configuration.engine.limits.subscriptionsPerAccountMax = Int.random(
            in: 4...Bound.subscriptionsPerAccountMax, using: &random)
        configuration.engine.limits.sessionsPerAccountMax = Int.random(
            in: 2...Bound.sessionsPerAccountMax, using: &random)
        configuration.engine.limits.contactsPerAccountMax = Int.random(in: 2...6, using: &random)
        configuration.engine.limits.requestsPerAccountMax = Int.random(in: 1...4, using: &random)
        configuration.engine.limits.messagesPerAccountMax = Int.random(in: 4...20, using: &random)
        configuration.engine.limits.messagesPerSenderMax = Int.random(in: 2...15, using: &random)
        configuration.engine.disconnectGraceSeconds = Int.random(
            in: 0...Bound.disconnectGraceSeconds, using: &random)
        configuration.engine.pushAfterSeconds = Int.random(in: 1...20, using: &random)
        configuration.engine.restartGraceSeconds = Int.random(
            in: 0...Bound.restartGraceSeconds, using: &random)
        configuration.connection.outboxBytesMax = Int.random(
            in: 500...Bound.outboxBytesMax, using: &random)
        // A login of XMPP has four round trips.
        configuration.connection.loginSeconds = Int.random(in: 10...100, using: &random)
        configuration.connection.xmppLoginSeconds = Int.random(in: 10...100, using: &random)
        configuration.connection.progressSeconds = Int.random(in: 15...60, using: &random)
        configuration.connection.listFramesPerTurn = Int.random(in: 1...3, using: &random)
        configuration.connection.outboxesPerTurn = Int.random(in: 1...6, using: &random)
        configuration.connection.flushFraction = Int.random(in: 1...9, using: &random)
        configuration.connection.shares.bytesMax = Int.random(in: 0...2_000, using: &random)
        configuration.connection.shares.shareCountMax = Int.random(in: 0...20, using: &random)
        configuration.connection.subscribersPerTurn = Int.random(in: 1...6, using: &random)
        configuration.connection.receiversPerTurn = Int.random(in: 1...4, using: &random)
        configuration.connection.deadlinesPerTurn = Int.random(in: 1...4, using: &random)
        configuration.engine.rememberSeconds = Int.random(in: 60...3_000, using: &random)
        configuration.engine.evenClockSeconds = Int.random(in: 0...300, using: &random)
        configuration.feed.feedBytesMax = Int.random(in: 2_000...60_000, using: &random)
        configuration.feed.feedSeconds = Int.random(in: 20...3_600, using: &random)
        configuration.feed.topicsPerFrame = Int.random(in: 1...9, using: &random)
        configuration.feed.eventsPerFrameMax = Int.random(in: 1...9, using: &random)
        configuration.feed.undeliveredPerFrameMax = Int.random(in: 1...9, using: &random)
        configuration.feed.undeliveredBytesPerFrameMax = Int.random(in: 1...9_000, using: &random)
        return configuration
    }

    /// XMPP on one domain or two. In a sixth of the configurations everybody needs a token or a
    /// password, in another sixth a password.
    private static func drawXMPP(
        _ configuration: inout Configuration, _ random: inout SplitMix64
    ) {
        let count = Int.random(in: 1...2, using: &random)
        let domains = ["home.example", "other.example"].prefix(count)
        var listening = XMPPListening(domains: domains.map { Array($0.utf8) })
        listening.plain = XMPPListening.Place(host: "127.0.0.1", port: 0)
        listening.allowsPlaintext = true
        listening.stanzaBytesMax = Int.random(in: 3_000...10_000, using: &random)
        let uses: [PasswordUse] = [.besideTokens, .only, .none, .none, .none, .none]
        configuration.passwords = uses.randomElement(using: &random) ?? .none
        configuration.access = configuration.passwords == .none ? .open : .credentials
        listening.allowsRegistration = configuration.passwords == .only
        configuration.xmpp = listening
    }

    /// Each pace, and the cap on watchers, in half of the configurations.
    private static func drawPaces(
        _ configuration: inout Configuration, _ random: inout SplitMix64
    ) {
        func maybe<T>(_ value: T) -> T? { Bool.random(using: &random) ? value : nil }
        configuration.engine.publishPace = maybe(Pace(perSecond: 1, burst: 3))
        configuration.engine.strangerPace = maybe(Pace(perSecond: 1, burst: 3))
        configuration.engine.loginPace = maybe(Pace(perSecond: 1, burst: 2))
        configuration.engine.subscribersPerPublisherMax = maybe(
            Int.random(in: 1...5, using: &random))
        configuration.admission.loginPace = maybe(Pace(perSecond: 2, burst: 4))
        configuration.admission.requestPace = maybe(Pace(perSecond: 10, burst: 5))
        configuration.admission.appServerRequestPace = maybe(Pace(perSecond: 10, burst: 5))
        configuration.admission.connectionsPerAddressMax = maybe(20)
        configuration.admission.tokensMax = Int.random(in: 2...8, using: &random)
    }
}
