/// Why the service does not push to an address by itself.
public enum PushRejection: String, Error, CaseIterable, Sendable {
    /// There is no Web Push.
    case noPushKey = "no_push_key"
    /// The address is not the subscription of a browser: a token of APNs or FCM, for example.
    case notASubscription = "not_a_subscription"
    /// Its keys are missing, or are none of a browser.
    case invalidKeys = "invalid_keys"
    /// Its push service is not in the operator's list.
    case hostNotAllowed = "host_not_allowed"
}

/// Web Push, as the service offers it to clients. The engine does not look into addresses.
public struct PushOffer: Hashable, Sendable {
    /// The public key that web pages subscribe to pushes with, in base64url. Announced at login.
    public let key: String
    private let hosts: String
    private let check: @Sendable (_ address: String) -> PushRejection?

    /// An offer with a key. `check` decides by `hosts` alone, so that offers with the same are
    /// equal.
    public init(
        key: String, hosts: String,
        check: @escaping @Sendable (_ address: String) -> PushRejection? = { _ in nil }
    ) {
        (self.key, self.hosts, self.check) = (key, hosts, check)
    }

    /// Why an address is not pushed to; nil: it is.
    public func rejection(of address: [UInt8]) -> PushRejection? {
        check(String(decoding: address, as: UTF8.self))
    }

    /// Whether both have the same key and hosts.
    public static func == (one: Self, other: Self) -> Bool {
        one.key == other.key && one.hosts == other.hosts
    }

    /// Hashes the key and the hosts.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(hosts)
    }
}
