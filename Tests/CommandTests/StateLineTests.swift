import PresenceClient
import Testing

@testable import porchlight

@Suite struct `The line of a state` {
    /// The line of an event of bob, without its time and his name.
    func line(_ changes: [String: JSON]) -> String {
        let event: [String: JSON] = ["publisher": "bob", "cause": "changed", "value": 1]
        let line = StateLine(style: Style()).line(.object(event.merging(changes) { $1 }))
        return line.trimmingPrefix("          bob  ").description
    }

    /// The line of an event in which bob has one device with these members.
    func line(device changes: [String: JSON]) -> String {
        let device: [String: JSON] = ["client": "ios", "device": "phone"]
        return line(["online": [.object(device.merging(changes) { $1 })]])
    }

    @Test func `tells the availability of each device`() {
        #expect(line(device: [:]) == "changed  on ios phone")
        #expect(line(device: ["show": "away"]) == "changed  on ios phone (away)")
        #expect(line(device: ["text": "at lunch"]) == "changed  on ios phone (“at lunch”)")
        #expect(
            line(device: ["show": "dnd", "text": "at lunch", "priority": -1, "push": true])
                == "changed  on ios phone (dnd “at lunch”, priority -1, push)")
        #expect(
            line([
                "online": [
                    ["client": "ios", "device": "phone", "show": "xa"],
                    ["client": "web", "device": "tab"],
                ]
            ]) == "changed  on ios phone (xa), web tab")
    }

    @Test func `escapes what others have typed`() {
        #expect(
            line(device: ["text": "\u{1b}[31mred\u{202e}"])
                == "changed  on ios phone (“\\u{1b}[31mred\\u{202e}”)")
    }

    @Test func `of another type says nothing of who is online`() {
        let none = line(["cause": "sync", "type": 100, "value": 0])
        #expect(none == "no status  type 100")
        let status = line(["cause": "sync", "type": 100, "value": 2, "status": ["value": 10_002]])
        #expect(status == "status  type 100  10002")
        for value: Int64 in [1, 2, 3] {
            let line = line(["cause": "sync", "type": 100, "value": .integer(value)])
            #expect(line == "no status  type 100")
        }
        #expect(
            line(["cause": "expired", "type": 100, "value": 0]) == "expired  type 100")
    }

    @Test func `tells what was so before`() {
        #expect(line(["cause": "sync", "online": []]) == "online")
        #expect(line(["cause": "sync", "value": 0, "online": []]) == "unknown")
        #expect(line(["cause": "sync", "value": 3, "online": []]) == "offline (disconnected)")
        #expect(
            line(["cause": "sync", "value": 10_001, "online": [["client": "web", "device": "t"]]])
                == "online  on web t")
        #expect(
            line(["cause": "publish", "status": ["value": 10_001, "ext": "in a meeting"]])
                == "publish  10001 “in a meeting”")
    }
}
