import Containers
import Crypto
import Foundation
import HTTPValues
import PresenceCore
import Testing

@testable import WebPush

/// A subscription as a browser writes it.
func subscriptionText(
    _ endpoint: String = "https://push.example/abc",
    key: [UInt8] = [UInt8](P256.KeyAgreement.PrivateKey().publicKey.x963Representation),
    secret: [UInt8] = Array(0..<16)
) -> String {
    #"{"endpoint":"\#(endpoint)","expirationTime":null,"keys":{"#
        + #""p256dh":"\#(Base64URL.encoded(key))","auth":"\#(Base64URL.encoded(secret))"}}"#
}

@Suite struct `A push subscription` {
    @Test func `is read as browsers write it`() throws {
        let subscription = try PushSubscription(subscriptionText())
        #expect(subscription.endpoint.url.text == "https://push.example/abc")
        #expect(subscription.secret == Array(0..<16))
    }

    @Test func `is read with keys in base64, and with padding`() throws {
        let point = [UInt8](P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        // Its digits are +, / and others; 16 bytes have two of padding, 65 have one.
        let secret = [UInt8](repeating: 0xfb, count: 8) + [UInt8](repeating: 0xff, count: 8)
        func text(_ key: String, _ auth: String) -> String {
            #"{"endpoint":"https://push.example/a","keys":{"p256dh":"\#(key)","auth":"\#(auth)"}}"#
        }
        func base64(_ bytes: [UInt8]) -> String {
            String(decoding: Base64.encoded(bytes), as: UTF8.self)
        }
        let standard = text(base64(point), base64(secret))
        #expect(try PushSubscription(standard).secret == secret)
        let padded = text(Base64URL.encoded(point) + "=", Base64URL.encoded(secret) + "==")
        #expect(try PushSubscription(padded).secret == secret)
        #expect((try? PushSubscription(text(Base64URL.encoded(point), "===="))) == nil)
        let tooMuch = text(Base64URL.encoded(point), Base64URL.encoded(secret) + "===")
        #expect((try? PushSubscription(tooMuch)) == nil)
    }

    @Test(arguments: [
        ("https://push.example/a", "https://push.example"),
        ("https://Push.Example:443/", "https://push.example"),
        ("https://push.example:8443/a", "https://push.example:8443"),
        ("https://[::1]:9/", "https://[::1]:9"), ("https://[::1]", "https://[::1]"),
    ])
    func `has an origin`(endpoint: String, origin: String) throws {
        #expect(try #require(PushEndpoint(endpoint)).origin == origin)
    }

    @Test(arguments: [
        "http://push.example/", "https://user:word@push.example/", "https://push.example/#a",
        "https://push.example:0/", "https://push.example:99999/", "https://push.éxample/",
        "https://push。example/", "https://", "push.example", "file:///etc/passwd", "",
        "https://push.example\\\\@other.example/", "https://push.example/ a",
        "https://push.example/" + String(repeating: "a", count: 2_048),
    ])
    func `has an https URL`(endpoint: String) {
        #expect((try? PushSubscription(subscriptionText(endpoint))) == nil)
    }

    @Test func `has a key on the curve and a secret of 16 bytes`() {
        let point = [UInt8](P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        #expect((try? PushSubscription(subscriptionText(key: point))) != nil)
        var off = point
        off[64] ^= 1
        let wrong: [[UInt8]] = [
            off, [], [4], Array(point.dropLast()), point + [0], [UInt8](repeating: 0, count: 65),
            [4] + [UInt8](repeating: 0, count: 64), [4] + [UInt8](repeating: 255, count: 64),
            [5] + point.dropFirst(), [2 + (point[64] & 1)] + point[1..<33],
        ]
        for key in wrong {
            #expect((try? PushSubscription(subscriptionText(key: key))) == nil, "\(key)")
        }
        for count in [0, 1, 15, 17, 32] {
            let secret = [UInt8](repeating: 1, count: count)
            #expect((try? PushSubscription(subscriptionText(secret: secret))) == nil)
        }
    }

    @Test func `is nothing else`() {
        let whole = subscriptionText()
        let texts = [
            "", "apns:6f0c", "{}", "[]", "null", "{", String(whole.dropLast()), whole + "x",
            "[\(whole)]", " \(whole)", "\u{FEFF}\(whole)",
            whole.replacingOccurrences(of: "\"auth\"", with: "\"auht\""),
            whole.replacingOccurrences(of: "\"keys\"", with: "\"key\""),
            whole.replacingOccurrences(of: "\"endpoint\"", with: "\"url\""),
            whole.replacingOccurrences(of: "null", with: "\"soon\""),
            // Two members of the same name: parsers differ in which one they take.
            whole.replacingOccurrences(of: "{\"end", with: "{\"endpoint\":\"https://a/\",\"end"),
            whole.replacingOccurrences(
                of: "null",
                with: String(repeating: "[", count: 500)
                    + String(repeating: "]", count: 500)),
            whole.replacingOccurrences(
                of: "null", with: "null,\"x\":\"\(String(repeating: "x", count: 2_048))\""),
            String(repeating: "{\"a\":", count: 300), "{\"endpoint\":1,\"keys\":2}",
            whole.replacingOccurrences(of: "https", with: "\\u0000https"),
        ]
        for text in texts { #expect((try? PushSubscription(text)) == nil, "\(text.prefix(80))") }
    }

    @Test func `is pushed to, or the reason says why not`() throws {
        let hosts = try PushHosts("push.example")
        let whole = subscriptionText("https://push.example/a")
        #expect(hosts.rejection(of: whole) == nil)
        let cases: [(String, PushRejection)] = [
            ("apns:6f0c", .notASubscription),
            (whole.replacing("https:", with: "http:"), .notASubscription),
            (#"{"endpoint":"https://push.example/a"}"#, .invalidKeys),
            (whole.replacing("\"auth\"", with: "\"auht\""), .invalidKeys),
            (subscriptionText("https://push.example/a", key: [4]), .invalidKeys),
            (subscriptionText("https://other.example/a"), .hostNotAllowed),
        ]
        for (address, reason) in cases {
            #expect(hosts.rejection(of: address) == reason, "\(address)")
        }
    }

    /// None of these may end the process.
    @Test func `may be anything`() {
        var random = SplitMix64(seed: 11)
        let whole = Array(subscriptionText().utf8)
        for _ in 0..<2_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + 5))
                default: bytes.insert(contentsOf: bytes[..<min(bytes.count, 40)], at: place)
                }
            }
            _ = try? PushSubscription(String(decoding: bytes, as: UTF8.self))
        }
    }
}

@Suite struct `The hosts of push services` {
    private func place(_ list: String, _ endpoint: String) throws -> Int? {
        try PushHosts(list).place(of: #require(PushEndpoint(endpoint)))
    }

    @Test func `are named exactly, or by what follows a point`() throws {
        let list = "fcm.googleapis.com, *.notify.windows.com,push.example:8443"
        #expect(
            try PushHosts(list).entries.map(\.text)
                == list.split { ", ".contains($0) }.map(String.init))
        #expect(try place(list, "https://fcm.googleapis.com/fcm/send/a") == 0)
        #expect(try place(list, "https://FCM.googleapis.com:443/") == 0)
        #expect(try place(list, "https://wns2-by3p.notify.windows.com/w/?token=a") == 1)
        #expect(try place(list, "https://a.b.notify.windows.com/") == 1)
        #expect(try place(list, "https://push.example:8443/") == 2)
        let others = [
            "https://fcm.googleapis.com:444/", "https://fcm.googleapis.com./",
            "https://a.fcm.googleapis.com/", "https://fcm.googleapis.com.example/",
            "https://notify.windows.com/", "https://.notify.windows.com/",
            "https://xnotify.windows.com/", "https://a.notify.windows.com.example/",
            "https://push.example/", "https://127.0.0.1/", "https://localhost/",
        ]
        for endpoint in others { #expect(try place(list, endpoint) == nil, "\(endpoint)") }
    }

    @Test func `share no endpoint`() throws {
        #expect(try place("*.example.com,a.example.com", "https://a.example.com/") == 0)
        #expect(try PushHosts("a.example,A.example,a.example").entries.count == 1)
    }

    @Test(arguments: [
        ("127.0.0.1:8443", true), ("localhost:1", true), ("[::1]:9", true), ("10.0.0.1", true),
        ("push.example", false), ("*.push.example", false), ("localhost.example", false),
    ])
    func `may be private if they are addresses`(text: String, mayBePrivate: Bool) throws {
        #expect(try PushHost(text).mayBePrivate == mayBePrivate)
    }

    @Test(arguments: [
        "", "*", "*.", "*.com", "*.127.0.0.1", "*.[::1]", "a.*.example", "https://a.example",
        "a.example/", "a.example?", "a_b.example", "é.example", "a..example", ".example",
        "a.example.", "a.example:0", "a.example:x", "a.example:65536", "user@a.example", "127.1",
        "2130706433", "0x7f000001", "127.0.0.01", "127.0.0.256", "1.2.3.4.5", "[::1", "[]",
        "a.example#b",
    ])
    func `have a form`(text: String) {
        #expect(throws: PushHostError.self) { try PushHost(text) }
        #expect(throws: PushHostError.self) { try PushHosts(text) }
    }

    @Test func `are at most 16`() throws {
        let hosts = (0..<17).map { "h\($0).example" }
        #expect(try PushHosts(hosts.prefix(16).joined(separator: ",")).entries.count == 16)
        #expect(throws: PushHostError(entry: nil)) {
            try PushHosts(hosts.joined(separator: ","))
        }
    }
}
