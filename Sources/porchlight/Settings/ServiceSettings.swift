import CommandSupport
import Logging
import PresenceCore
import PresenceHTTP
import PresenceServer
import PresenceStore
import PresenceTokens

/// The settings of `serve`, as the table fills them in.
@dynamicMemberLookup
struct ServiceSettings: Sendable {
    var startup = StartupSettings()
    var live = LiveSettings()
    var places = SettingPlaces()

    subscript<Value>(dynamicMember path: KeyPath<StartupSettings, Value>) -> Value {
        startup[keyPath: path]
    }

    subscript<Value>(dynamicMember path: WritableKeyPath<StartupSettings, Value>) -> Value {
        get { startup[keyPath: path] }
        set { startup[keyPath: path] = newValue }
    }
}

/// A part of the settings. A change of any of them takes effect at the same time.
protocol SettingsPart: Sendable {
    /// The defaults.
    init()
    static var place: any WritableKeyPath<ServiceSettings, Self> & Sendable { get }
    static var takesEffect: Setting.TakesEffect { get }
}

/// What a start uses, and a reload leaves as it is.
struct StartupSettings: SettingsPart {
    static let takesEffect = Setting.TakesEffect.atRestart
    static let place: any WritableKeyPath<ServiceSettings, Self> & Sendable = \.startup

    var listen = "127.0.0.1:7400"
    var tls = TLSChoices()
    /// Where the HTTP API listens, if at all.
    var http: String?
    var httpConnectionsMax = 256
    /// Whether the HTTP API serves the console.
    var servesConsole = true
    var auth = AuthenticationMode.open
    /// Whether passwords are accepted beside tokens.
    var takesPasswords = false
    var isKnownToBeOpen = false
    var isKnownToBePlain = false
    /// The file or URL with the keys for tokens.
    var tokenKeyPlace: String?
    var tokenAudience: String?
    var tokenIssuer: String?
    /// The file with the keys of app servers.
    var serverKeyPath: String?
    var webhooks = WebhookChoices()
    var push = PushChoices()
    var xmpp = XMPPChoices()
    var dataDirectory = Configuration().dataDirectory
    var durability = Configuration().durability
    var loops = Configuration().loops
    /// Seconds in which each loop must end a turn; 0: there is no limit.
    var watchdogSeconds = 30
    /// Its memory is allocated at the start.
    var feed = FeedLimits()
    // They are sent to clients at login.
    var heartbeatSeconds = Settings().heartbeatSeconds
    var visibility = Settings().visibility
    var restartGraceSeconds = Settings().restartGraceSeconds
    // Buffers have these sizes, and the verifier of tokens uses the first.
    var accountBytesMax = Limits().accountBytesMax
    var frameBytesMax = Limits().frameBytesMax
    var frameBytesBeforeLoginMax = Limits().frameBytesBeforeLoginMax
    var serverFrameBytesMax = Limits().serverFrameBytesMax
}

/// What may change while clients are connected: a reload replaces all of it.
struct LiveSettings: SettingsPart {
    static let takesEffect = Setting.TakesEffect.atReload
    static let place: any WritableKeyPath<ServiceSettings, Self> & Sendable = \.live

    /// Those of the engine that are not in `StartupSettings`.
    var engine = Settings()
    var connection = ConnectionLimits()
    var admission = AdmissionLimits()
    /// As browsers send them; nil: see `Configuration`.
    var origins: Set<[UInt8]>?
    var areRatesLimited = true
    var httpIdleSeconds = HTTPLimits().idleSeconds
    /// The least severe level that is logged.
    var logLevel = Logger.Level.notice
    var logFormat = LogFormat.text

    /// A short path for the table.
    var limits: Limits {
        get { engine.limits }
        set { engine.limits = newValue }
    }
}

/// Where the settings were set, for errors about the files that they name.
struct SettingPlaces: Sendable {
    var origins: [String: SettingsInForce.Origin] = [:]

    /// `given with --jwt-key`, or with the line of the settings file.
    subscript(name: String) -> String {
        switch origins[name] {
        case .file(let place): "given with \(name) in \(place)"
        case .variable(let variable): "given with \(variable)"
        case .flag, .standard, nil: "given with --\(name)"
        }
    }

    /// The end of an error about an address: where the address is from.
    ///
    /// - Parameter flag: that of the setting, such as `--listen`.
    func source(of flag: String) -> String {
        let origin = origins[String(flag.drop { $0 == "-" })] ?? .standard
        return "The address is from: \(origin.text)."
    }
}

enum AuthenticationMode: String, CaseIterable { case open, jwt, password }

extension StartupSettings {
    /// Whether accounts may log in with a password.
    var passwords: PasswordUse {
        switch auth {
        case .open: .none
        case .jwt: takesPasswords ? .besideTokens : .none
        case .password: .only
        }
    }

    /// Whether there is an HTTP API, with or without TLS.
    var servesHTTP: Bool { http != nil || tls.http != nil }
}

// What a browser sends is compared byte by byte, so what is written here is made into that.
extension LiveSettings {
    /// The origins of web pages that may connect, with commas between them.
    var webSocketOrigins: String? {
        get {
            origins.map { origins in
                origins.map { String(decoding: $0, as: UTF8.self) }.sorted()
                    .joined(separator: ", ")
            }
        }
        set {
            origins = newValue.map { text in
                Set(
                    text.split { $0 == "," || $0 == " " }.map { word in
                        // An invalid one is kept as it is: a rule rejects it.
                        BrowserOrigin(word.utf8)?.bytes ?? Array(word.utf8)
                    })
            }
        }
    }

    /// Whether a browser may send these bytes as an origin.
    static func isOrigin(_ origin: [UInt8]) -> Bool {
        BrowserOrigin(origin)?.bytes == origin
    }
}

extension Pace? {
    /// The rate of a limit that is set.
    var ratePerSecond: Int {
        get { self?.perSecond ?? 0 }
        set { self?.perSecond = newValue }
    }

    /// The burst of a limit that is set.
    var burstMax: Int {
        get { self?.burst ?? 0 }
        set { self?.burst = newValue }
    }
}

extension ServiceSettings {
    /// The service's configuration, without addresses and keys.
    var configuration: Configuration {
        var configuration = Configuration()
        configuration.loops = startup.loops
        configuration.dataDirectory = startup.dataDirectory
        configuration.durability = startup.durability
        configuration.feed = startup.feed
        configuration.webSocketOrigins = live.origins
        configuration.connection = live.connection
        configuration.admission = live.admission
        configuration.engine = live.engine
        configuration.engine.heartbeatSeconds = startup.heartbeatSeconds
        configuration.engine.visibility = startup.visibility
        configuration.engine.restartGraceSeconds = startup.restartGraceSeconds
        configuration.engine.limits.accountBytesMax = startup.accountBytesMax
        configuration.engine.limits.frameBytesMax = startup.frameBytesMax
        configuration.engine.limits.frameBytesBeforeLoginMax = startup.frameBytesBeforeLoginMax
        configuration.engine.limits.serverFrameBytesMax = startup.serverFrameBytesMax
        return configuration
    }

    /// The same with addresses, certificates and keys.
    func configuration(
        _ tls: TLSFiles, _ authenticator: CredentialAuthenticator, push: PushOffer?,
        _ furtherMetrics: @escaping @Sendable () -> [UInt8]
    ) -> Configuration {
        let address = Self.numericAddress(startup.listen)
        var configuration = configuration
        configuration.host = address.host
        configuration.port = address.port
        configuration.tls = tls.listening
        configuration.xmpp = startup.xmppListening
        configuration.xmpp?.contexts = tls.xmpp
        configuration.version = programVersion
        configuration.access = startup.auth == .open ? .open : .credentials
        configuration.passwords = startup.passwords
        configuration.engine.push = push
        configuration.authenticator = authenticator
        configuration.furtherMetrics = furtherMetrics
        configuration.admission.descriptorsElsewhere = DescriptorBudget(self).elsewhere
        if !live.areRatesLimited { configuration.switchOffPace() }
        return configuration
    }
}

extension ServiceSettings {
    /// An address that was checked, with a numeric host.
    static func numericAddress(_ text: String) -> (host: String, port: UInt16) {
        guard let address = parseAddress(text) else {
            preconditionFailure("an address that was not checked")
        }
        return (address.host == "localhost" ? "127.0.0.1" : address.host, address.port)
    }

    /// The requirements on tokens.
    var tokenRules: TokenRules {
        var rules = TokenRules(audience: startup.tokenAudience, issuer: startup.tokenIssuer)
        rules.accountBytesMax = startup.accountBytesMax
        return rules
    }
}

/// Why settings are rejected: one sentence per error.
struct SettingsError: Error, CustomStringConvertible {
    let messages: [String]

    init(_ message: String) {
        messages = [message]
    }

    init(_ messages: [String]) {
        self.messages = messages
    }

    var description: String { messages.joined(separator: "\n") }
}
