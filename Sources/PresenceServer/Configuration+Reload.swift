// What a reload changes. Nothing else says so: the engine host, the connection loops, the engine
// and the decoders use the result, and a test compares the settings table of the command with it.

import PresenceCore

extension Configuration {
    /// Takes over what may change while clients are connected from a configuration that was read
    /// later.
    ///
    /// What is not named here keeps its value from startup: addresses, files, the sizes of buffers,
    /// what clients were told at login, and what is not a setting. A new field does so, too, until
    /// it is added here.
    public mutating func reload(from new: Configuration) {
        authenticator = new.authenticator
        webSocketOrigins = new.webSocketOrigins
        engine.reload(from: new.engine)
        connection.reload(from: new.connection)
        admission.reload(from: new.admission)
        if let context = new.tls?.context { tls?.context = context }
        if let contexts = new.xmpp?.contexts, xmpp?.contexts != nil { xmpp?.contexts = contexts }
    }
}

extension Settings {
    fileprivate mutating func reload(from new: Settings) {
        disconnectGraceSeconds = new.disconnectGraceSeconds
        pushReachable = new.pushReachable
        pushReachableSeconds = new.pushReachableSeconds
        rememberSeconds = new.rememberSeconds
        publishPace = new.publishPace
        loginPace = new.loginPace
        subscribersPerPublisherMax = new.subscribersPerPublisherMax
        limits.reload(from: new.limits)
    }
}

extension Limits {
    fileprivate mutating func reload(from new: Limits) {
        deviceBytesMax = new.deviceBytesMax
        extBytesMax = new.extBytesMax
        kickReasonBytesMax = new.kickReasonBytesMax
        requestTextBytesMax = new.requestTextBytesMax
        availabilityTextBytesMax = new.availabilityTextBytesMax
        requestIDBytesMax = new.requestIDBytesMax
        customTypeMin = new.customTypeMin
        customTypeMax = new.customTypeMax
        customValueMin = new.customValueMin
        customValueMax = new.customValueMax
        publishersPerRequestMax = new.publishersPerRequestMax
        accountsPerQueryMax = new.accountsPerQueryMax
        subscriptionsPerAccountMax = new.subscriptionsPerAccountMax
        sessionsPerAccountMax = new.sessionsPerAccountMax
        statusesPerAccountMax = new.statusesPerAccountMax
        contactsPerAccountMax = new.contactsPerAccountMax
        requestsPerAccountMax = new.requestsPerAccountMax
        accountsMax = new.accountsMax
        pageEntriesMax = new.pageEntriesMax
        pageEntriesDefault = new.pageEntriesDefault
        subscriptionExpirySecondsMin = new.subscriptionExpirySecondsMin
        subscriptionExpirySecondsMax = new.subscriptionExpirySecondsMax
        statusExpirySecondsMin = new.statusExpirySecondsMin
        statusExpirySecondsMax = new.statusExpirySecondsMax
        statusExpirySecondsDefault = new.statusExpirySecondsDefault
    }
}

extension ConnectionLimits {
    fileprivate mutating func reload(from new: ConnectionLimits) {
        loginSeconds = new.loginSeconds
        xmppLoginSeconds = new.xmppLoginSeconds
        frameSeconds = new.frameSeconds
        progressSeconds = new.progressSeconds
        outboxBytesMax = new.outboxBytesMax
        outboxBytesInAllMax = new.outboxBytesInAllMax
        backlogBytesMax = new.backlogBytesMax
    }
}

extension AdmissionLimits {
    fileprivate mutating func reload(from new: AdmissionLimits) {
        requestPace = new.requestPace
        registrationPace = new.registrationPace
        appServerRequestPace = new.appServerRequestPace
        loginPace = new.loginPace
        failedLoginPace = new.failedLoginPace
        connectionsMax = new.connectionsMax
        connectionsPerAddressMax = new.connectionsPerAddressMax
        storePendingMax = new.storePendingMax
        memoryBytesMax = new.memoryBytesMax
    }
}
