import Containers
import Crypto
import FoundationEssentials
public import PresenceCore
import PresenceWire

/// What a browser gives a page that may push to it: `JSON.stringify(subscription)`.
public struct PushSubscription: Sendable {
    /// The most bytes of the text: as many as a push address of a device may have.
    public static let byteCountMax = 2_048

    /// Where it is sent to.
    public let endpoint: PushEndpoint
    /// The browser's key, a point of P-256.
    let key: P256.KeyAgreement.PublicKey
    /// The browser's secret, 16 bytes.
    let secret: [UInt8]

    /// Parses a push address. It is a client that has written it: all of it is checked, and other
    /// members are ignored.
    ///
    /// - Throws: `notASubscription` for an address of another kind, and `invalidKeys`.
    public init(_ text: String) throws(PushRejection) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.byteCountMax, bytes.first == UInt8(ascii: "{"),
            (try? StrictJSON.check(bytes)) != nil,
            let members = try? JSONDecoder().decode(Members.self, from: Data(bytes)),
            let endpoint = PushEndpoint(members.endpoint)
        else { throw .notASubscription }
        guard let keys = members.keys,
            let point = Self.decoded(keys.p256dh), point.count == 65,
            let key = try? P256.KeyAgreement.PublicKey(x963Representation: point),
            let secret = Self.decoded(keys.auth), secret.count == 16
        else { throw .invalidKeys }
        (self.endpoint, self.key, self.secret) = (endpoint, key, secret)
    }

    /// Browsers write base64url without padding. Pages that encode what `getKey` returns themselves
    /// write base64 (`btoa`), and some libraries pad either.
    private static func decoded(_ text: String) -> [UInt8]? {
        let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        guard text.utf8.count - digits.count <= 2 else { return nil }
        return Base64URL.decoded(
            digits.lazy.map { digit in
                switch digit {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: digit
                }
            })
    }

    /// The members as browsers write them.
    private struct Members: Decodable {
        struct Keys: Decodable {
            var p256dh: String
            var auth: String
        }
        enum CodingKeys: CodingKey {
            case endpoint, expirationTime, keys
        }
        let endpoint: String
        /// Nil: they are missing, or of another form.
        let keys: Keys?

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            endpoint = try members.decode(String.self, forKey: .endpoint)
            // Not used: the push service says that a subscription has expired.
            _ = try members.decodeIfPresent(Double.self, forKey: .expirationTime)
            keys = try? members.decode(Keys.self, forKey: .keys)
        }
    }
}
