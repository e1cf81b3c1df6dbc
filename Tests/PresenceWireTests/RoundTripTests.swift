import Containers
import Foundation
import PresenceWire
import Testing

@testable import PresenceCore

/// What we write, read by another's parser: Foundation's.
@Suite struct RoundTripTests {
    /// Not U+FEFF, which Foundation's parser drops from a string.
    private static let pieces = [
        "a", "\"", "\\", "/", "\0", "\u{1F}", "\u{7F}", "\u{80}", "é", "\u{2028}", "😀", "\u{FFFD}",
        "אב", " ", "\n", "\r\n", "\\u0041", "{}", "e\u{301}",
    ]

    private func name(_ generator: inout SplitMix64) -> String {
        (0..<Int.random(in: 0...12, using: &generator)).map { _ in
            Self.pieces.randomElement(using: &generator) ?? ""
        }.joined()
    }

    private func time(_ generator: inout SplitMix64) -> Wall {
        Wall(milliseconds: Int64.random(in: 0...4_000_000_000_000, using: &generator))
    }

    private func randomEvent(
        _ fixture: inout Fixture, _ generator: inout SplitMix64
    ) -> Event {
        var event = fixture.event(
            name(&generator), type: UInt16.random(in: 1...999, using: &generator))
        event.value = Int32.random(in: .min ... .max, using: &generator)
        event.cause = Cause.allCases.randomElement(using: &generator) ?? .sync
        event.seq = UInt64.random(in: 0...UInt64(Int64.max), using: &generator)
        event.time = time(&generator)
        let devices = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            (
                ClientKind.allCases.randomElement(using: &generator) ?? .other, name(&generator),
                Bool.random(using: &generator) ? Reach.push : .connection
            )
        }
        if Bool.random(using: &generator) { event.online = fixture.devices(devices) }
        if Bool.random(using: &generator) {
            event.origin = event.online?.first.map { fixture.effects.devices[$0] }
        }
        if Bool.random(using: &generator) { event.ext = fixture.text(name(&generator)) }
        if Bool.random(using: &generator) {
            event.status = StatusEntry(
                value: 10_000, ext: event.ext, expires: time(&generator))
        }
        if Bool.random(using: &generator) { event.lastSeen = time(&generator) }
        return event
    }

    private func string(_ range: ByteRange?, _ effects: Effects) -> String? {
        range.map {
            String(
                decoding: effects.bytes[Int($0.start)..<Int($0.start + $0.count)], as: UTF8.self)
        }
    }

    /// Strings are compared by their bytes: Swift takes é and e + accent for the same.
    private func isEqual(_ any: Any?, _ text: String?) -> Bool {
        (any as? String).map { Array($0.utf8) } == text.map { Array($0.utf8) }
    }

    private func check(_ json: [String: Any], _ event: Event, _ effects: Effects) {
        #expect(json["type"] as? Int == Int(event.type.number))
        #expect(isEqual(json["publisher"], string(event.publisher, effects)))
        #expect(json["value"] as? Int == Int(event.value))
        #expect(isEqual(json["cause"], event.cause.word.description))
        #expect(json["seq"] as? UInt64 == event.seq)
        #expect(json["time"] as? Int64 == event.time.milliseconds)
        #expect(isEqual(json["client"], event.origin?.client.word.description))
        #expect(isEqual(json["device"], string(event.origin?.name, effects)))
        #expect(isEqual(json["ext"], string(event.ext, effects)))
        #expect(json["lastSeen"] as? Int64 == event.lastSeen?.milliseconds)
        let online = json["online"] as? [[String: Any]]
        #expect(online?.count == event.online?.count)
        for (device, index) in zip(online ?? [], event.online ?? 0..<0) {
            let entry = effects.devices[index]
            #expect(isEqual(device["client"], entry.client.word.description))
            #expect(isEqual(device["device"], string(entry.name, effects)))
            #expect(device["push"] as? Bool == (entry.reach == .push ? true : nil))
        }
        let status = json["status"] as? [String: Any]
        #expect((status == nil) == (event.status == nil))
        #expect(isEqual(status?["ext"], string(event.status?.ext, effects)))
        #expect(status?["expires"] as? Int64 == event.status?.expires.milliseconds)
    }

    @Test func `random events come back from another's parser`() throws {
        var generator = SplitMix64(seed: 17)
        for _ in 0..<500 {
            var fixture = Fixture()
            fixture.effects.events = (0..<3).map { _ in randomEvent(&fixture, &generator) }
            var bytes: [UInt8] = []
            let rest = bytes.appendEventsBody(
                0..<3, of: .loginList, in: fixture.effects, limits: Limits())
            #expect(rest.isEmpty)
            let object = try JSONSerialization.jsonObject(with: Data(bytes))
            let json = try #require(object as? [String: Any])
            let params = try #require(json["params"] as? [String: Any])
            #expect(params["sync"] as? Bool == true)
            let events = try #require(params["events"] as? [[String: Any]])
            #expect(events.count == 3)
            for (json, event) in zip(events, fixture.effects.events) {
                check(json, event, fixture.effects)
            }
        }
    }

    @Test func `an id comes back through decoder and encoder`() throws {
        var generator = SplitMix64(seed: 23)
        for _ in 0..<500 {
            let id = String(name(&generator).prefix(20))
            guard id.utf8.count <= 128 else { continue }
            let request: [String: Any] = ["jsonrpc": "2.0", "id": id, "method": "ping"]
            let body = try JSONSerialization.data(withJSONObject: request)
            let decoded = Decoded([UInt8](body))
            var bytes: [UInt8] = []
            _ = bytes.appendAnswerBody(
                .loggedOut, to: decoded.id, in: Effects(), settings: Settings())
            let object = try JSONSerialization.jsonObject(with: Data(bytes))
            #expect(isEqual((object as? [String: Any])?["id"], id))
        }
    }

    @Test func `everything that we write is read as JSON by our own parser`() {
        // A response has no `method`: that it is JSON with the right id shows in the error.
        for reason in Rejection.Reason.allCases {
            var bytes: [UInt8] = []
            let rejection = Rejection(reason, field: .ext, limit: 1, count: 2, retryAfterSeconds: 3)
            bytes.appendErrorBody(rejection, to: .integer(77), in: Effects())
            let decoded = Decoded(bytes)
            #expect(decoded.envelopeError == EnvelopeError(.invalidRequest, field: .method))
            #expect(decoded.id == .integer(77))
        }
    }
}
