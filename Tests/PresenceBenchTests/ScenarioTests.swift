import ArgumentParser
import Testing

@testable import PresenceBench

/// Every scenario, tiny, against a real service: so that none of them rots.
@Suite(.serialized) struct ScenarioTests {
    @Test func `fanout, one event at a time`() throws {
        var fanout = try Fanout.parse([])
        fanout.accounts = 25
        fanout.group = 10
        fanout.events = 100
        let report = try fanout.run(tiny())
        #expect(try #require(report.value("events")) >= 100)
        #expect(try #require(report.value("deliveries")) > 600)
        #expect(report.json.contains("\"scenario\":\"fanout\""))
    }

    @Test func `fanout, saturated`() throws {
        var fanout = try Fanout.parse([])
        fanout.accounts = 40
        fanout.group = 20
        fanout.mode = .saturated
        fanout.window = 400
        fanout.events = 1_000
        let report = try fanout.run(tiny())
        #expect(try #require(report.value("events")) >= 1_000)
    }

    @Test(arguments: [Fanout.Mode.groups, .saturated])
    func `fanout to drained clients`(mode: Fanout.Mode) throws {
        var fanout = try Fanout.parse([])
        fanout.accounts = 40
        fanout.group = 20
        fanout.drain = true
        fanout.mode = mode
        fanout.window = 1_000
        fanout.events = 2_000
        let report = try fanout.run(tiny(serve: ["--loops", "2"]))
        #expect(try #require(report.value("events")) >= 2_000)
        #expect(try #require(report.value("deliveries")) > 20_000, "\(report.table)")
    }

    @Test func `fanout to drained clients is not for one event at a time`() throws {
        var fanout = try Fanout.parse([])
        fanout.drain = true
        #expect(throws: BenchError.self) { try fanout.run(tiny()) }
    }

    @Test func `fanout, with its floor`() throws {
        var fanout = try Fanout.parse([])
        fanout.accounts = 40
        fanout.group = 20
        fanout.duration = 0.5
        fanout.floor = true
        let report = try fanout.run(tiny())
        #expect(try #require(report.value("ratio to the floor")) > 0)
    }

    @Test func `fanout, at a fixed rate`() throws {
        var fanout = try Fanout.parse([])
        fanout.accounts = 10
        fanout.group = 10
        fanout.mode = .paced
        fanout.rate = 2_000
        fanout.events = 200
        let report = try fanout.run(tiny())
        #expect(try #require(report.value("events")) >= 200)
    }

    @Test func `messages`() throws {
        var messaging = try Messaging.parse([])
        messaging.accounts = 10
        messaging.messages = 12
        messaging.window = 7
        messaging.waiting = 60
        let report = try messaging.run(tiny())
        #expect(try #require(report.value("server CPU per message")) > 0, "\(report.table)")
    }

    @Test(arguments: [DropMethod.reset, .close])
    func `storm`(drop: DropMethod) throws {
        var storm = try Storm.parse([])
        storm.accounts = 30
        storm.subscriptions = 6
        storm.drop = drop
        storm.times = 2
        let report = try storm.run(tiny())
        // Four groups of seven, and the last two are a group of their own.
        #expect(report.value("2. states in lists") == 170)
    }

    @Test(arguments: [Restart.Mode.stop, .kill])
    func `restart`(mode: Restart.Mode) throws {
        var restart = try Restart.parse([])
        restart.accounts = 12
        restart.subscriptions = 5
        restart.stored = 300
        restart.mode = mode
        let report = try restart.run(tiny())
        #expect(report.value("subscriptions stored") == 360)
    }

    @Test func `connections`() throws {
        var connections = try Connections.parse([])
        connections.accounts = 20
        connections.group = 5
        connections.duration = 0.2
        connections.keepAlive = 0.1
        let report = try connections.run(tiny())
        #expect(try #require(report.value("memory of both together")) >= 0)
    }

    @Test func `subscribe`() throws {
        var subscribing = try Subscribing.parse([])
        subscribing.accounts = 110
        // More than a request may name, so that accounts need two.
        subscribing.group = 110
        subscribing.renewals = 1
        let report = try subscribing.run(tiny())
        #expect(report.value("subscriptions") == 11_990)
        #expect(try #require(report.value("subscriptions renewed a second")) > 0)
    }

    @Test func `celebrity`() throws {
        var celebrity = try Celebrity.parse([])
        celebrity.subscribers = 20
        celebrity.offline = 150
        celebrity.rate = 50
        celebrity.duration = 0.5
        let report = try celebrity.run(tiny())
        let events = try #require(report.value("events"))
        // How many come in that time depends on the machine.
        #expect(events > 0)
        #expect(report.value("deliveries") == events * 20)
        #expect(try #require(report.value("ping meanwhile p50")) > 0)
    }

    @Test func `celebrity, to drained clients`() throws {
        var celebrity = try Celebrity.parse([])
        celebrity.subscribers = 130
        celebrity.rate = 50
        celebrity.duration = 0.5
        celebrity.drain = true
        let report = try celebrity.run(tiny(serve: ["--loops", "2"]))
        let events = try #require(report.value("events"))
        #expect(events > 0)
        #expect(report.value("deliveries") == events * 130)
        #expect(report.value("left out for a newer one") == 0)
    }

    @Test func `flood`() throws {
        var flood = try Flood.parse([])
        flood.clients = 5
        flood.pings = 50
        flood.duration = 0.5
        let report = try flood.run(tiny())
        // How many are answered in that time depends on the machine.
        #expect(try #require(report.value("large requests answered")) > 0)
        #expect(try #require(report.value("pings meanwhile")) > 0)
    }

    @Test func `mixed`() throws {
        var mixed = try Mixed.parse([])
        mixed.accounts = 30
        mixed.group = 8
        mixed.rate = 300
        mixed.duration = 1
        let report = try mixed.run(tiny())
        // How many are done in that time depends on the machine.
        #expect(try #require(report.value("things done")) > 0)
        #expect(try #require(report.value("events delivered")) > 0)
    }

    @Test func `mixed, beside messages`() throws {
        var mixed = try Mixed.parse([])
        mixed.accounts = 30
        mixed.group = 8
        mixed.rate = 300
        mixed.messages = 100
        mixed.duration = 2
        let report = try mixed.run(tiny())
        // How many are done in that time depends on the machine.
        #expect(try #require(report.value("messages taken")) > 0)
        #expect(try #require(report.value("commit without messages p99")) > 0)
        #expect(try #require(report.value("commit with messages p99")) > 0)
        #expect(try #require(report.value("ratio of the p99 with messages")) > 0)
        #expect(report.table.contains("messages 100/s"))
    }

    @Test(arguments: [-1, 20_001])
    func `mixed, beside a wrong number of messages`(messages: Int) {
        expectError(
            "--messages \(messages): give a number from 0 to 20000, messages per second.",
            of: ["--messages=\(messages)"])
    }

    @Test func `mixed, beside messages without commits to compare`() {
        expectError(
            "--messages compares the commits of statuses and renewals: give --statuses or "
                + "--renewals a share.",
            of: ["--messages", "1", "--statuses", "0", "--renewals", "0"])
    }

    private func expectError(_ text: String, of options: [String]) {
        do {
            _ = try Mixed.parse(options)
            Issue.record("\(options) are valid")
        } catch {
            #expect(Mixed.message(for: error) == text)
        }
    }
}
