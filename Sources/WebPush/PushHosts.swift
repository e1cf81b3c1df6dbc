// Clients write endpoints, so a service that sent to all of them would send wherever a client
// wants. The operator lists the hosts of push services.

import HTTPValues
public import PresenceCore

/// An entry of the list: `fcm.googleapis.com`, or `*.notify.windows.com` for all hosts below that
/// name; with a port if it is not 443.
public struct PushHost: Hashable, Sendable {
    /// As it was written, in small letters.
    public let text: String
    /// The host, or what follows the point.
    private let name: String
    private let port: UInt16
    private let isWildcard: Bool
    /// It names an address itself, or this machine: then that may be a private one. A name may not
    /// lead to one, since others decide what it leads to.
    public let mayBePrivate: Bool

    /// Parses an entry.
    public init(_ text: String) throws(PushHostError) {
        isWildcard = text.hasPrefix("*.")
        let authority = isWildcard ? String(text.dropFirst(2)) : text
        let isHost = authority.utf8.allSatisfy { !"/?_".utf8.contains($0) }
        guard isHost, let url = try? OutgoingURL("https://\(authority)") else {
            throw PushHostError(entry: text)
        }
        (name, port) = (url.host, url.port)
        // Of a name, no label is empty, and the last one is no number, also none as 0x7f.
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress = authority.utf8.first == UInt8(ascii: "[") || Self.isAddress(labels)
        let isName =
            labels.allSatisfy { !$0.isEmpty } && labels.last?.first?.isLetter ?? false
        guard isAddress || isName, !isWildcard || isName && labels.count > 1 else {
            throw PushHostError(entry: text)
        }
        mayBePrivate = isAddress || name == "localhost"
        self.text = text.lowercased()
    }

    /// Whether this is an IPv4 address as it is written everywhere: four numbers.
    private static func isAddress(_ labels: [Substring]) -> Bool {
        labels.count == 4 && labels.allSatisfy { UInt8($0).map(String.init) == String($0) }
    }

    /// Whether an endpoint is at this host.
    func has(_ endpoint: PushEndpoint) -> Bool {
        guard endpoint.url.port == port else { return false }
        // Compared byte by byte: both are ASCII, in small letters.
        let host = endpoint.url.host
        guard isWildcard else { return host == name }
        return host.hasSuffix(".\(name)") && host.utf8.count > name.utf8.count + 1
    }
}

/// The hosts of push services that messages are sent to.
public struct PushHosts: Hashable, Sendable {
    /// The most entries: each has a reader of what is undelivered.
    public static let countMax = 16

    /// In their order.
    public let entries: [PushHost]

    /// Parses a list, with commas between the entries.
    public init(_ text: String) throws(PushHostError) {
        var entries: [PushHost] = []
        for word in text.split(whereSeparator: { $0 == "," || $0 == " " }) {
            let entry = try PushHost(String(word))
            if !entries.contains(entry) { entries.append(entry) }
        }
        guard 1...Self.countMax ~= entries.count else { throw PushHostError(entry: nil) }
        self.entries = entries
    }

    /// The first entry that has the host of an endpoint: only one sends to it.
    public func place(of endpoint: PushEndpoint) -> Int? {
        entries.firstIndex { $0.has(endpoint) }
    }

    /// Why a push address is not sent to; nil: it is.
    public func rejection(of address: String) -> PushRejection? {
        do throws(PushRejection) {
            let subscription = try PushSubscription(address)
            return place(of: subscription.endpoint) == nil ? .hostNotAllowed : nil
        } catch {
            return error
        }
    }
}

/// An entry that is no host of a push service; nil: the list is empty or too long.
public struct PushHostError: Error, Hashable, CustomStringConvertible {
    /// As it was written.
    public let entry: String?

    /// What would be right.
    public var description: String {
        let form = "a host as fcm.googleapis.com or *.notify.windows.com, with a port if not 443"
        guard let entry else { return "give 1 to \(PushHosts.countMax) hosts, each \(form)" }
        return "`\(entry.prefix(64))` is not \(form)"
    }
}
