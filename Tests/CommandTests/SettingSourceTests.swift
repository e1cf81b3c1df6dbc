import Foundation
import PresenceCore
import PresenceServer
import Testing

@testable import porchlight

/// A settings file for the length of a test.
final class TemporaryFile {
    let path: String

    init(_ text: String, extension: String = "yml") throws {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "porchlight-settings-\(UUID().uuidString).\(`extension`)").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

@Suite struct `Where settings come from` {
    func read(
        _ text: String? = nil, environment: [String: String] = [:], flags: [String: String] = [:]
    ) throws -> SettingsInForce {
        let file = try text.map { try TemporaryFile($0) }
        defer { withExtendedLifetime(file) {} }
        return try SettingSources(flags: flags, environment: environment, path: file?.path).read()
    }

    /// What is said of a file, without the folder it is in.
    func messages(_ text: String, extension: String = "yml") throws -> [String] {
        let file = try TemporaryFile(text, extension: `extension`)
        let rejection = #expect(throws: SettingsError.self) {
            try SettingSources(flags: [:], environment: [:], path: file.path).read()
        }
        return (rejection?.messages ?? []).map {
            $0.replacingOccurrences(of: file.path, with: "FILE")
        }
    }

    @Test func `a flag outweighs the environment, and that the file`() throws {
        let heartbeat = try #require(SettingTable.named("heartbeat"))
        var inForce = try read()
        #expect(inForce.value(of: heartbeat) == .integer(30))
        #expect(inForce.origin(of: heartbeat) == .standard)
        inForce = try read("heartbeat: 10")
        #expect(inForce.settings.configuration.engine.heartbeatSeconds == 10)
        let variables = ["PORCHLIGHT_HEARTBEAT": "20"]
        inForce = try read("heartbeat: 10", environment: variables)
        #expect(inForce.settings.configuration.engine.heartbeatSeconds == 20)
        #expect(inForce.origin(of: heartbeat) == .variable("PORCHLIGHT_HEARTBEAT"))
        inForce = try read("heartbeat: 10", environment: variables, flags: ["heartbeat": "40"])
        #expect(inForce.settings.configuration.engine.heartbeatSeconds == 40)
        #expect(inForce.origin(of: heartbeat) == .flag("--heartbeat"))
    }

    @Test func `the environment can name the file`() throws {
        let file = try TemporaryFile("# first\nheartbeat: 10\n")
        let inForce = try SettingSources(
            flags: [:], environment: ["PORCHLIGHT_CONFIG": file.path], path: nil
        ).read()
        let heartbeat = try #require(SettingTable.named("heartbeat"))
        #expect(inForce.origin(of: heartbeat) == .file("\(file.path):2"))
    }

    /// The system would read the name of another file.
    @Test(arguments: ["data", "jwt-key", "jwt-issuer", "websocket-origins", "xmpp-domain"])
    func `a text has no NUL`(name: String) {
        let error = #expect(throws: SettingsError.self) { try read("\(name): \"x\\0y\"") }
        #expect(error?.description.contains("contains a NUL character") == true, "\(name)")
    }

    @Test(arguments: ["", "# nothing is set\n", "---\n", "{}"])
    func `a file may be empty`(text: String) throws {
        #expect(try read(text).entries.isEmpty)
    }

    @Test func `a file may be JSON, and its values quoted`() throws {
        let inForce = try read(#"{"heartbeat": 10, "rate-limits": "off", "durability": "full"}"#)
        #expect(inForce.settings.configuration.engine.heartbeatSeconds == 10)
        #expect(!inForce.settings.live.areRatesLimited)
    }

    @Test(arguments: [
        ("localhost:0", "127.0.0.1"), ("127.0.0.2:0", "127.0.0.2"), ("[::1]:0", "::1"),
    ])
    func `an address is a number, or localhost`(text: String, host: String) throws {
        let settings = try read(flags: ["listen": text, "http": text]).settings
        #expect(ServiceSettings.numericAddress(settings.listen).host == host)
        #expect(settings.http == text)
    }

    @Test(arguments: [
        "example.com:0", "LOCALHOST:0", "127.1:0", "256.0.0.1:0", "[::g]:0", "127.0.0.1%lo:0",
        "%:0",
    ])
    func `no other name is an address`(text: String) {
        for name in ["listen", "http"] {
            let rejection = #expect(throws: SettingsError.self) { try read(flags: [name: text]) }
            let told = "--\(name) \(text) has a host name, and names are not"
            #expect(rejection?.description.hasPrefix(told) == true)
        }
    }

    @Test(arguments: ["[fe80::1%lo]:0", "[::ffff:127.0.0.1]:0"])
    func `every number is`(text: String) throws {
        let address = Setting.Kind.address
        #expect(try address.value(of: text) == .text(text))
    }

    @Test(arguments: ["off", "false", "no", "'off'"])
    func `a switch is a word or a truth value`(text: String) throws {
        #expect(try read("rate-limits: \(text)").settings.live.areRatesLimited == false)
    }

    @Test(arguments: [
        (
            "heartbeat: 10\nhartbeat: 5\n",
            "FILE:2: there is no setting hartbeat: did you mean heartbeat?"
        ),
        ("heartbeat: 4", "FILE:1: heartbeat 4 is out of range: give 5 to 300 seconds."),
        (
            "\n\nheartbeat: soon",
            "FILE:3: heartbeat soon is not a whole number: give 5 to 300 seconds."
        ),
        (
            "listen: example.com:7400",
            "FILE:1: listen example.com:7400 has a host name, and names are not resolved: give a "
                + "numeric address, or localhost, and a port from 0 to 65535, such as "
                + "127.0.0.1:7400 or [::1]:7400."
        ),
        (
            "listen: 127.0.0.1:99999",
            "FILE:1: listen 127.0.0.1:99999 has a port above 65535: give a numeric address, or "
                + "localhost, and a port from 0 to 65535, such as 127.0.0.1:7400 or [::1]:7400."
        ),
        ("heartbeat: 12.5", "FILE:1: heartbeat 12.5 is not a whole number: give 5 to 300 seconds."),
        ("heartbeat: true", "FILE:1: heartbeat true is not a whole number: give 5 to 300 seconds."),
        ("heartbeat: [5]", "FILE:1: heartbeat has the wrong type: give 5 to 300 seconds."),
        ("heartbeat:", "FILE:1: heartbeat has no value."),
        (
            "durability: sometimes",
            "FILE:1: durability sometimes is not allowed: give full or relaxed."
        ),
        ("rate-limits: 0", "FILE:1: rate-limits 0 is not a switch: give on or off."),
        (
            "heartbeat: 10\nheartbeat: 20",
            "FILE:2: heartbeat is set twice, first in line 1."
        ),
        (
            "serve:\n  heartbeat: 10",
            "FILE:1: serve: settings do not nest: give a line `name: value` for each."
        ),
        (
            "- heartbeat",
            "FILE:1: this is not a list of settings: give a line `name: value` for each."
        ),
        (
            "heartbeat 10",
            "FILE:1: this is not a list of settings: give a line `name: value` for each."
        ),
    ])
    func `an error in the file is told with its line and what would be right`(
        text: String, message: String
    ) throws {
        #expect(try messages(text) == [message])
    }

    @Test(arguments: [
        (
            "listen: [::]:7400",
            "FILE:1: this is not YAML: did not find expected node content. To YAML, `[` begins a "
                + "list: quote the value, as in `listen: \"[::]:7400\"`."
        ),
        (
            "heartbeat: 10\r\nhttp:  [::1]:7401  # both\r\nlog-level: info\r\n",
            "FILE:2: this is not YAML: did not find expected node content. To YAML, `[` begins a "
                + "list: quote the value, as in `http: \"[::1]:7401\"`."
        ),
        (
            "\tlisten: 127.0.0.1:7400",
            "FILE:1: this is not YAML: found character that cannot start any token. The line "
                + "begins with a tab: remove it; YAML is indented with spaces only."
        ),
        (
            "heartbeat: 50\n \tlog-level: info",
            "FILE:2: this is not YAML: mapping values are not allowed in this context. The line "
                + "begins with a tab: remove it; YAML is indented with spaces only."
        ),
        (
            "log-level: a: b",
            "FILE:1: this is not YAML: mapping values are not allowed in this context."
        ),
    ])
    func `a tab and an unquoted bracket are told with what would be right`(
        text: String, message: String
    ) throws {
        #expect(try messages(text) == [message])
    }

    @Test func `a file that is not YAML is rejected with the line`() throws {
        let message = try #require(try messages("heartbeat: 10\nlisten: [127\ndata: x").first)
        #expect(message.hasPrefix("FILE:3: this is not YAML"))
    }

    @Test(arguments: [
        ("/nowhere/at.yml", "No such file or directory"), ("/", "Is a directory"),
    ])
    func `a file that cannot be read is named, and why`(path: String, why: String) {
        let rejection = #expect(throws: SettingsError.self) {
            try SettingSources(flags: [:], environment: [:], path: path).read()
        }
        #expect(rejection?.description == "The settings file \(path) cannot be read: \(why).")
    }

    @Test func `errors in a file are told in the order of its lines`() throws {
        let messages = try messages(
            "log-level: loud\nhartbeat: 1\nheartbeat: 1\ndurability: no\nnone: 1\nlisten: x")
        #expect(
            messages.map { $0.prefix(7) } == (1...6).map { "FILE:\($0):" }, "\(messages)")
    }

    @Test(arguments: ["\n", "\r\n"])
    func `a name that is set twice does not hide other errors`(end: String) throws {
        let lines = [
            "hartbeat: 1", "heartbeat: 10", "'heartbeat': 4", "log-level: loud", "heartbeat: 5",
            "\"http\": x", "http: none", "none: 1", "none: 2",
        ]
        let messages = try messages(lines.joined(separator: end))
        let twice = messages.filter { $0.contains("twice") }
        #expect(
            twice == [
                "FILE:3: heartbeat is set twice, first in line 2.",
                "FILE:5: heartbeat is set twice, first in line 2.",
                "FILE:7: http is set twice, first in line 6.",
                "FILE:9: none is set twice, first in line 8.",
            ])
        #expect(
            messages.filter { !$0.contains("twice") }.map { $0.prefix(7) }
                == [1, 3, 4, 6, 8, 9].map { "FILE:\($0):" }, "\(messages)")
        #expect(messages == messages.sorted { $0.prefix(7) < $1.prefix(7) })
    }

    @Test(arguments: [
        (
            #"{"heartbeat": 10, "log-level": "loud", "heartbeat": 20}"#,
            ["FILE:1: log-level loud is not allowed", "FILE:1: heartbeat is set twice"]
        ),
        // Neither name is written at the place that the parser gives.
        ("&a heartbeat: 10\n*a : 20", ["FILE:1: set twice: heartbeat."]),
        (#"{"heart\u0062eat": 10, "heartbeat": 20}"#, ["FILE:1: set twice: heartbeat."]),
        (
            String(repeating: "http: none\n", count: 200),
            ["FILE sets more than 100 settings twice."]
        ),
    ])
    func `a name may be set twice in many ways`(text: String, starts: [String]) throws {
        let messages = try messages(text)
        #expect(messages.count == starts.count)
        for (message, start) in zip(messages, starts) {
            #expect(message.hasPrefix(start), "\(message)")
        }
    }

    @Test(arguments: [
        ("yml", "heartbeat: [\n", "FILE:2: this is not YAML: did not find expected"),
        ("json", "{\n\"heartbeat\": 10", "FILE:3: this JSON cannot be read: did not find expected"),
        ("json", #"{"data": "\ud83c\udfe1"}"#, "FILE:1: this JSON cannot be read: found invalid"),
        ("yml", "data: \u{1}", "FILE:1: this is not YAML: control characters are not allowed."),
        ("yml", "heartbeat: *a", "FILE:1: found undefined alias."),
        (
            "yml", "heartbeat: 10\n---\nheartbeat: 20",
            "FILE:2: expected a single document in the stream, but found another document."
        ),
    ])
    func `a file that cannot be parsed is called what it is`(
        ending: String, text: String, start: String
    ) throws {
        let messages = try messages(text, extension: ending)
        #expect(messages.count == 1)
        #expect(messages[0].hasPrefix(start), "\(messages)")
    }

    @Test(arguments: ["http", "server-key", "jwt-issuer", "subscribers-max", "memory-bytes-max"])
    func `the word for nothing takes back what a source of less weight says`(
        name: String
    ) throws {
        let setting = try #require(SettingTable.named(name))
        let inForce = try read("\(name): \(setting.unset)")
        #expect(inForce.value(of: setting) == nil)
        var settings = inForce.settings
        settings.places = SettingPlaces()
        #expect("\(settings)" == "\(ServiceSettings())")
        let file = "\(name): \(setting.otherValue.text)"
        #expect(try read(file, flags: [name: setting.unset]).value(of: setting) == nil)
    }

    @Test func `all errors are told at once, also those that a flag would hide`() throws {
        let file = try TemporaryFile("heartbeat: 1\nlog-level: loud\n")
        let rejection = #expect(throws: SettingsError.self) {
            try SettingSources(
                flags: ["heartbeat": "30"], environment: ["PORCHLIGHT_DISCONNECT_GRACE": "301"],
                path: file.path
            ).read()
        }
        #expect(rejection?.messages.count == 3)
    }

    @Test func `a variable that is no setting is rejected, if it is meant for us`() throws {
        let rejection = #expect(throws: SettingsError.self) {
            try read(environment: ["PORCHLIGHT_HEARTBEATS": "1", "PATH": "/bin"])
        }
        #expect(
            rejection?.messages == [
                "PORCHLIGHT_HEARTBEATS is set in the environment and is not a setting: "
                    + "did you mean PORCHLIGHT_HEARTBEAT?"
            ])
        // What Kubernetes gives to every container beside a service called porchlight.
        _ = try read(environment: [
            "PORCHLIGHT_SERVICE_HOST": "10.0.0.1", "PORCHLIGHT_SERVICE_PORT_HTTP": "7401",
            "PORCHLIGHT_PORT": "tcp://10.0.0.1:7400", "PORCHLIGHT_PORT_7400_TCP_ADDR": "10.0.0.1",
            "PORCHLIGHT_WEB_SERVICE_PORT": "1", "PORCHLIGHT_BIN": "/usr/bin/porchlight",
        ])
    }

    @Test func `controls in what is shown are escaped, and long texts cut`() throws {
        let message = try #require(
            try messages("log-level: \"\\e[31m\(String(repeating: "x", count: 5_000))\"").first)
        #expect(!message.contains("\u{1b}"))
        #expect(message.count < 200)
    }
}

@Suite struct `Settings that contradict each other` {
    @Test(arguments: [
        ["subscription-expiry-min": "3600", "subscription-expiry-max": "60"],
        ["status-expiry-min": "604801"], ["status-expiry-max": "60"],
        ["page-entries-max": "99"], ["custom-type-min": "65535", "custom-type-max": "100"],
        ["custom-value-max": "9999"], ["frame-bytes-max": "16000"],
        ["outbox-bytes-max": "67108864", "outbox-bytes-in-all-max": "1048576"],
        ["backlog-bytes-max": "1048576"], ["server-frame-bytes-max": "67108864"],
        ["ext-bytes-max": "32768", "server-frame-bytes-max": "65536"],
        ["server-frame-bytes-max": "262144"],
        ["listen": "0.0.0.0:7400"], ["listen": "[::]:0"],
        ["listen": "0.0.0.0:7400", "auth": "jwt"], ["http": "0.0.0.0:7401", "auth": "jwt"],
        ["listen": "127.0.0.1:7400", "http": "127.0.0.1:7400"],
        ["http": "[::1]:7401", "xmpp-listen": "[::1]:7401"],
        ["tls-key": "k"], ["listen-tls": "127.0.0.1:7443"],
    ])
    func `are rejected by their names, values and places`(flags: [String: String]) throws {
        let rejection = #expect(throws: SettingsError.self, "\(flags)") {
            try SettingSources(flags: flags, environment: [:], path: nil).read()
        }
        for (name, value) in flags {
            let named = "\(name) \(value) (flag --\(name))"
            #expect(
                rejection?.description.contains(named) == true, "\(String(describing: rejection))")
        }
    }

    @Test(arguments: [
        (
            ["listen-tls": "127.0.0.1:7443"],
            "TLS needs a certificate and its key: set tls-certificate and tls-key. In force: "
                + "listen-tls 127.0.0.1:7443 (flag --listen-tls)."
        ),
        (
            ["listen-tls": "127.0.0.1:7443", "tls-certificate": "c"],
            "A certificate is of no use without its key, nor a key without its certificate: set "
                + "both. In force: tls-certificate c (flag --tls-certificate)."
        ),
        (
            ["tls-certificate": "c", "tls-key": "k"],
            "Nothing is served over TLS: set listen-tls, http-tls, xmpp-listen or "
                + "xmpp-tls-listen, or omit tls-certificate and tls-key. In force: tls-certificate "
                + "c (flag --tls-certificate)."
        ),
        (
            ["http": "127.0.0.1:7401", "http-tls": "127.0.0.1:7401"],
            "Only one can listen on an address: give each a port of its own. In force: http "
                + "127.0.0.1:7401 (flag --http), http-tls 127.0.0.1:7401 (flag --http-tls)."
        ),
    ])
    func `are told with what would be right`(flags: [String: String], remedy: String) {
        let rejection = #expect(throws: SettingsError.self) {
            try SettingSources(flags: flags, environment: [:], path: nil).read()
        }
        let messages = rejection?.messages ?? []
        #expect(messages.contains(remedy), "\(messages)")
    }

    @Test func `are not those that leave the port to the system`() throws {
        let flags = ["listen": "127.0.0.1:0", "http": "127.0.0.1:0"]
        _ = try SettingSources(flags: flags, environment: [:], path: nil).read()
    }

    @Test func `are about settings that there are`() {
        for rule in SettingRule.all {
            for name in rule.names { #expect(SettingTable.named(name) != nil, "\(name)") }
        }
    }

    @Test(arguments: [
        ["listen": "0.0.0.0:7400", "i-know-this-is-plain": "on"],
        ["http": "0.0.0.0:7401", "server-key": "f", "i-know-this-is-plain": "on"],
        ["listen": "127.0.0.1:7400", "http": "[::1]:7401"],
        [
            "listen-tls": "0.0.0.0:7443", "http-tls": "0.0.0.0:7444", "server-key": "f",
            "tls-certificate": "c", "tls-key": "k",
        ],
    ])
    func `may send tokens without TLS if that is said, or to this machine`(
        flags: [String: String]
    ) throws {
        let flags = flags.merging(["auth": "jwt", "jwt-key": "f"]) { $1 }
        _ = try SettingSources(flags: flags, environment: [:], path: nil).read()
    }

    @Test func `may be open to the world if that is said`() throws {
        let flags = ["listen": "0.0.0.0:7400", "i-know-this-is-open": "on"]
        _ = try SettingSources(flags: flags, environment: [:], path: nil).read()
    }
}
