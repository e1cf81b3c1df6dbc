// Webhooks of `porchlight serve`: the settings are read, checked and made into endpoints.

import CommandSupport
import Containers
import EventLoop
import Foundation
import Logging
import NIOPosix
import OutgoingHTTP
import PresenceClient
import PresenceServer
import PresenceTokens
import PresenceWebhooks
import PresenceWire
import TaskLoops

extension WebhookSettings {
    /// The maximum number of endpoints.
    private static let endpointsMax = 16

    /// Reads the files that the settings name.
    ///
    /// - Throws: which one, and what would be right; never its content.
    init(
        _ choices: WebhookChoices, _ places: SettingPlaces = SettingPlaces()
    ) throws(SettingsError) {
        self.init(seed: UInt64.random(in: 0...UInt64.max))
        timeoutSeconds = choices.timeoutSeconds
        retrySecondsMax = choices.retrySecondsMax
        if let url = choices.url, let secretPath = choices.secretPath {
            endpoints = [
                try Self.endpoint("default", url, secretPath, places["webhook-secret"])
            ]
        } else if let path = choices.listPath {
            endpoints = try Self.endpoints(in: path, places["webhooks"])
        }
    }

    private static func endpoint(
        _ name: String, _ url: String, _ secretPath: String, _ place: String,
        stream: WebhookStream = .events
    ) throws(SettingsError) -> WebhookEndpoint {
        var secret: [UInt8]
        do throws(FileError) {
            secret = try readSecretFile(secretPath)
        } catch {
            throw SettingsError(
                "The file \(secretPath) with the secret of webhook \(name), \(place), cannot be "
                    + "read: \(error.words).")
        }
        if let found = PublicContent(in: secret) {
            throw SettingsError(
                "The file \(secretPath) with the secret of webhook \(name) contains \(found.name), "
                    + "which must not be used as a secret: give 16 to 512 random bytes.")
        }
        while let last = secret.last, last == 10 || last == 13 { secret.removeLast() }
        do throws(WebhookEndpointError) {
            return try WebhookEndpoint(name: name, url: url, secret: secret, stream: stream)
        } catch {
            throw SettingsError(error.description)
        }
    }

    private static func endpoints(
        in path: String, _ place: String
    ) throws(SettingsError) -> [WebhookEndpoint] {
        let content: [UInt8]
        do throws(FileError) {
            content = try readSecretFile(path)
        } catch {
            throw SettingsError(
                "The file \(path) \(place) cannot be read: \(error.words).")
        }
        let lines: [WebhookLine]
        do {
            try StrictJSON.check(content)
            lines = try JSONDecoder().decode([WebhookLine].self, from: Data(content))
        } catch StrictJSONError.duplicateMember {
            throw SettingsError(
                "The file \(path) \(place) has an object with two members of the same "
                    + "name: give each once.")
        } catch let error as WebhookLine.UnknownMembersError {
            throw SettingsError("The file \(path) \(place): \(error.words).")
        } catch {
            throw SettingsError(
                "The file \(path) \(place) does not have the form "
                    + "[{\"name\": …, \"url\": …, \"secret\": a file}, …].")
        }
        guard lines.count <= endpointsMax else {
            throw SettingsError(
                "The file \(path) \(place) has \(lines.count) webhooks; the maximum "
                    + "is \(endpointsMax).")
        }
        guard Set(lines.map { ExactText($0.name) }).count == lines.count else {
            throw SettingsError(
                "The file \(path) \(place) has two webhooks of the same name: give "
                    + "each its own, since its position is stored under it.")
        }
        var endpoints: [WebhookEndpoint] = []
        var messages: [String] = []
        for line in lines {
            do throws(SettingsError) {
                guard let stream = WebhookStream(rawValue: line.send) else {
                    throw SettingsError(
                        "The webhook \(visible(String(line.name.prefix(64)))) in \(path) has "
                            + "\"send\": \"\(visible(String(line.send.prefix(64))))\"; "
                            + "use \"events\" or \"undelivered\".")
                }
                endpoints.append(
                    try endpoint(
                        line.name, line.url, line.secret, "in \(path)", stream: stream))
            } catch {
                messages += error.messages
            }
        }
        guard messages.isEmpty else { throw SettingsError(messages) }
        return endpoints
    }
}

extension Webhooks {
    /// The webhooks of a service.
    convenience init(_ settings: WebhookSettings, over http: OutgoingHTTP, logger: Logger) {
        self.init(
            settings, over: http, wallMilliseconds: { Loop.wallMilliseconds() }, logger: logger)
    }
}

extension OutgoingHTTP {
    /// Requests to others. Tasks that send them have a thread that the process keeps until it ends.
    static func onThreadOfItsOwn() -> OutgoingHTTP {
        OutgoingHTTP(
            on: TaskLoop(MultiThreadedEventLoopGroup(numberOfThreads: 1).next()),
            authoritiesPath: authoritiesInEnvironment)
    }
}
