import CommandSupport
import Logging
import PresenceCore
import PresenceServer
import PresenceStore
import PresenceTokens

/// The settings of `serve`, as the table fills them in.
struct ServiceSettings: Sendable {
    var configuration = Configuration()
    var listen = "127.0.0.1:7400"
    var tls = TLSChoices()
    /// Where the HTTP API listens, if at all.
    var http: String?
    var httpConnectionsMax = 256
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
    var xmpp = XMPPChoices()
    var areRatesLimited = true
    /// The least severe level that is logged.
    var logLevel = Logger.Level.notice
    var places = SettingPlaces()
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
}

enum AuthenticationMode: String, CaseIterable { case open, jwt, password }

extension ServiceSettings {
    /// Whether accounts may log in with a password.
    var passwords: PasswordUse {
        switch auth {
        case .open: .none
        case .jwt: takesPasswords ? .besideTokens : .none
        case .password: .only
        }
    }
}

extension ServiceSettings {
    /// Whether there is an HTTP API, with or without TLS.
    var servesHTTP: Bool { http != nil || tls.http != nil }
}

// Short paths for the table.
extension ServiceSettings {
    var engine: Settings {
        get { configuration.engine }
        set { configuration.engine = newValue }
    }

    var limits: Limits {
        get { configuration.engine.limits }
        set { configuration.engine.limits = newValue }
    }

    var connection: ConnectionLimits {
        get { configuration.connection }
        set { configuration.connection = newValue }
    }

    var admission: AdmissionLimits {
        get { configuration.admission }
        set { configuration.admission = newValue }
    }
}

// What a browser sends is compared byte by byte, so what is written here is made into that.
extension ServiceSettings {
    /// The origins of web pages that may connect, with commas between them.
    var webSocketOrigins: String? {
        get {
            configuration.webSocketOrigins.map { origins in
                origins.map { String(decoding: $0, as: UTF8.self) }.sorted()
                    .joined(separator: ", ")
            }
        }
        set {
            configuration.webSocketOrigins = newValue.map { text in
                Set(
                    text.split { $0 == "," || $0 == " " }.map { word in
                        // An invalid one is kept as it is: a rule refuses it.
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
    /// The rate of a pace that is set.
    var ratePerSecond: Int {
        get { self?.perSecond ?? 0 }
        set { self?.perSecond = newValue }
    }

    /// The burst of a pace that is set.
    var burstMax: Int {
        get { self?.burst ?? 0 }
        set { self?.burst = newValue }
    }
}

extension ServiceSettings {
    /// Takes over what may change while clients are connected: see `Configuration.reload`. The rest
    /// keeps its value from startup.
    mutating func reload(from new: ServiceSettings) {
        configuration.reload(from: new.configuration)
        areRatesLimited = new.areRatesLimited
        places = new.places
        logLevel = new.logLevel
    }

    /// The service's configuration, without keys.
    var service: Configuration {
        let address = Self.numericAddress(listen)
        var configuration = configuration
        configuration.host = address.host
        configuration.port = address.port
        configuration.xmpp = xmppListening
        configuration.version = programVersion
        configuration.access = auth == .open ? .open : .credentials
        configuration.passwords = passwords
        configuration.admission.descriptorsElsewhere = DescriptorBudget(self).elsewhere
        if !areRatesLimited { configuration.switchOffPace() }
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
        var rules = TokenRules(audience: tokenAudience, issuer: tokenIssuer)
        rules.accountBytesMax = configuration.engine.limits.accountBytesMax
        return rules
    }
}

/// Why settings are refused: one sentence per fault.
struct SettingsError: Error, CustomStringConvertible {
    let faults: [String]

    init(_ fault: String) {
        faults = [fault]
    }

    init(_ faults: [String]) {
        self.faults = faults
    }

    var description: String { faults.joined(separator: "\n") }
}
