import Containers
import Crypto
import Foundation
import HTTPValues
import PresenceCore
import PresenceWire
import Testing

@testable import WebPush

@Suite struct `A push message` {
    private func entry(
        _ body: String, ext: String = "", textBytesMax: Int = 100_000
    ) -> PushMessage {
        var message = DeliveredMessage(
            id: MessageID(number: 26), time: Wall(milliseconds: 1_763_700_000_000),
            body: Array(body.utf8), ext: Array(ext.utf8))
        message.from = Array("dave".utf8)
        let devices = [("web", "{}"), ("phone", "")].map { name, address in
            PushDevice(
                name: Array(name.utf8), reach: .push,
                labels: DeviceLabels(
                    alias: Array("x".utf8), storedTags: [], pushAddress: Array(address.utf8)))
        }
        return PushMessage(
            UndeliveredEntry(
                number: 1, message: message, textBytesMax: textBytesMax,
                account: Array("carol".utf8), reason: .absent,
                expires: Wall(milliseconds: 1_764_304_800_000), waiting: 2, devices: devices))
    }

    private func content(_ entry: PushMessage) throws -> [String: Any] {
        let text = try entry.plaintext()
        #expect(text.count <= PushEncryption.plaintextBytesMax)
        return try #require(
            JSONSerialization.jsonObject(with: Data(text)) as? [String: Any])
    }

    @Test func `has what a notification shows`() throws {
        let entry = entry("Lunch\nat \"noon\"?", ext: "{}")
        #expect(entry.devices.map(\.device) == ["web", "phone"])
        #expect(entry.devices.map(\.pushAddress) == ["{}", nil])
        #expect(
            String(decoding: try entry.plaintext(), as: UTF8.self)
                == #"{"account":"carol","body":"Lunch\nat \"noon\"?","ext":"{}","from":"dave","#
                + #""message":"000000000000T","time":1763700000000,"waiting":2}"#)
    }

    @Test func `says that it was cut before`() throws {
        #expect(try content(entry("ab", textBytesMax: 1))["cut"] as? Bool == true)
        #expect(try content(entry(""))["body"] == nil)
    }

    @Test func `loses ext before body`() throws {
        let body = String(repeating: "a", count: 3_000)
        let content = try content(entry(body, ext: String(repeating: "b", count: 1_000)))
        #expect(content["body"] as? String == body && content["ext"] == nil)
        #expect(content["cut"] as? Bool == true)
    }

    @Test(arguments: ["a", "é", "界", "👩‍🚀", "\"", "\\", "\n", "\u{1}", "/", "\u{7F}", "\u{2028}"])
    func `is cut at a character`(piece: String) throws {
        for prefix in ["", "x", "xy", "xyz"] {
            let body = prefix + String(repeating: piece, count: 4_000)
            let entry = entry(body)
            let content = try content(entry)
            let cut = try #require(content["body"] as? String)
            #expect(body.unicodeScalars.starts(with: cut.unicodeScalars))
            #expect(content["cut"] as? Bool == true)
            // Not more than it must be.
            #expect(try entry.plaintext().count > PushEncryption.plaintextBytesMax - 6)
        }
    }

    @Test(
        arguments: [
            (-5_000, "0"), (999, "0"), (60_000, "60"), (2_592_000_000, "2419200"),
        ] as [(Int64, String)])
    func `is kept by the push service as long as it waits`(left: Int64, ttl: String) throws {
        let subject = try #require(PushSubject("mailto:a@b"))
        var tokens = VAPIDTokens(VAPIDKey(), subject)
        let entry = entry("a")
        let request = try PushRequest(
            entry.plaintext(), of: entry, to: PushSubscription(subscriptionText()),
            &tokens, at: entry.expires - left)
        let headers = Dictionary(uniqueKeysWithValues: request.headers)
        #expect(headers["TTL"] == ttl && headers["Urgency"] == "high")
        #expect(headers["Topic"] == "000000000000T")
        #expect(headers["Content-Encoding"] == "aes128gcm")
        #expect(headers["Authorization"]?.hasPrefix("vapid t=") == true)
        #expect(request.url.text == "https://push.example/abc")
        let other = try PushRequest(
            entry.plaintext(), of: entry, to: PushSubscription(subscriptionText()),
            &tokens, at: 0)
        // The salt and the key are of one message.
        #expect(other.body.prefix(16) != request.body.prefix(16))
        #expect(other.body[21..<86] != request.body[21..<86])
    }
}

@Suite struct `The answer of a push service` {
    @Test(
        arguments: [
            (200, .accepted), (201, .accepted), (202, .accepted), (404, .gone), (410, .gone),
            (429, .tooMany(.seconds(7))), (500, .unavailable(.seconds(7))),
            (503, .unavailable(.seconds(7))), (599, .unavailable(.seconds(7))), (400, .rejected),
            (401, .rejected), (403, .rejected), (413, .rejected), (301, .rejected),
            (307, .rejected),
            (100, .rejected),
        ] as [(Int, PushAnswer)])
    func `says what becomes of a push`(status: Int, answer: PushAnswer) {
        #expect(PushAnswer(status: status, .seconds(7)) == answer)
    }

    @Test func `may be none`() {
        #expect(PushAnswer(status: nil) == .unavailable(nil))
    }
}
