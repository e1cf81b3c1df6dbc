import PresenceBench
import Testing

/// Every scenario, tiny, against a real service: so that none of them rots.
@Suite(.serialized) struct ScenarioTests {
    @Test func `fanout, one event at a time`() throws {
        var fanout = Fanout()
        fanout.accounts = 25
        fanout.group = 10
        fanout.end = .events(100)
        let report = try fanout.run(tiny())
        #expect(try #require(report.value("events")) >= 100)
        #expect(try #require(report.value("deliveries")) > 600)
        #expect(report.json.contains("\"scenario\":\"fanout\""))
        #expect(report.plot.hasPrefix("<svg"))
    }

    @Test func `fanout, saturated`() throws {
        var fanout = Fanout()
        fanout.accounts = 40
        fanout.group = 20
        fanout.pace = .saturated(window: 400)
        fanout.end = .events(1_000)
        let report = try fanout.run(tiny())
        #expect(try #require(report.value("events")) >= 1_000)
    }

    @Test(arguments: [Fanout.Pace.onePerGroup, .saturated(window: 1_000)])
    func `fanout to drained clients`(pace: Fanout.Pace) throws {
        var fanout = Fanout()
        fanout.accounts = 40
        fanout.group = 20
        fanout.isDrained = true
        fanout.pace = pace
        fanout.end = .events(2_000)
        let report = try fanout.run(tiny(serve: ["--loops", "2"]))
        #expect(try #require(report.value("events")) >= 2_000)
        #expect(try #require(report.value("deliveries")) > 20_000, "\(report.table)")
    }

    @Test func `fanout to drained clients is not for one event at a time`() throws {
        var fanout = Fanout()
        fanout.isDrained = true
        #expect(throws: BenchError.self) { try fanout.run(tiny()) }
    }

    @Test func `fanout, with its floor`() throws {
        var fanout = Fanout()
        fanout.accounts = 40
        fanout.group = 20
        fanout.end = .seconds(0.5)
        fanout.isFloorMeasured = true
        let report = try fanout.run(tiny())
        #expect(try #require(report.value("ratio to the floor")) > 0)
    }

    @Test func `fanout, at a fixed rate`() throws {
        var fanout = Fanout()
        fanout.accounts = 10
        fanout.group = 10
        fanout.pace = .paced(perSecond: 2_000)
        fanout.end = .events(200)
        let report = try fanout.run(tiny())
        #expect(try #require(report.value("events")) >= 200)
    }

    @Test func `messages`() throws {
        var messaging = Messaging()
        messaging.accounts = 10
        messaging.messages = 12
        messaging.window = 7
        messaging.waiting = 60
        let report = try messaging.run(tiny())
        #expect(try #require(report.value("server CPU per message")) > 0, "\(report.table)")
    }

    @Test(arguments: [Storm.Drop.reset, .close])
    func `storm`(drop: Storm.Drop) throws {
        var storm = Storm()
        storm.accounts = 30
        storm.subscriptions = 6
        storm.drop = drop
        storm.times = 2
        let report = try storm.run(tiny())
        // Four groups of seven, and the last two are a group of their own.
        #expect(report.value("2. states in lists") == 170)
    }

    @Test(arguments: [Restart.Ending.stop, .kill])
    func `restart`(ending: Restart.Ending) throws {
        var restart = Restart()
        restart.accounts = 12
        restart.subscriptions = 5
        restart.stored = 300
        restart.endings = [ending]
        let report = try restart.run(tiny())
        #expect(report.value("subscriptions stored") == 360)
    }

    @Test func `connections`() throws {
        var connections = Connections()
        connections.accounts = 20
        connections.group = 5
        connections.seconds = 0.2
        connections.keepAliveSeconds = 0.1
        let report = try connections.run(tiny())
        #expect(try #require(report.value("memory of both together")) >= 0)
    }

    @Test func `subscribe`() throws {
        var subscribing = Subscribing()
        subscribing.accounts = 110
        // More than a request may name, so that accounts need two.
        subscribing.group = 110
        subscribing.renewals = 1
        let report = try subscribing.run(tiny())
        #expect(report.value("subscriptions") == 11_990)
        #expect(try #require(report.value("subscriptions renewed a second")) > 0)
    }

    @Test func `celebrity`() throws {
        var celebrity = Celebrity()
        celebrity.subscribers = 20
        celebrity.offline = 150
        celebrity.rate = 50
        celebrity.pingers = 3
        celebrity.seconds = 0.5
        let report = try celebrity.run(tiny())
        let events = try #require(report.value("events"))
        // How many come in that time depends on the machine.
        #expect(events > 0)
        #expect(report.value("deliveries") == events * 20)
        #expect(try #require(report.value("ping meanwhile p50")) > 0)
    }

    @Test func `celebrity, to drained clients`() throws {
        var celebrity = Celebrity()
        celebrity.subscribers = 130
        celebrity.rate = 50
        celebrity.pingers = 3
        celebrity.seconds = 0.5
        celebrity.isDrained = true
        let report = try celebrity.run(tiny(serve: ["--loops", "2"]))
        let events = try #require(report.value("events"))
        #expect(events > 0)
        #expect(report.value("deliveries") == events * 130)
        #expect(report.value("left out for a newer one") == 0)
    }

    @Test func `flood`() throws {
        var flood = Flood()
        flood.clients = 5
        flood.pingsPerSecond = 50
        flood.seconds = 0.5
        let report = try flood.run(tiny())
        // How many are answered in that time depends on the machine.
        #expect(try #require(report.value("large requests answered")) > 0)
        #expect(try #require(report.value("pings meanwhile")) > 0)
    }

    @Test func `mixed`() throws {
        var mixed = Mixed()
        mixed.accounts = 30
        mixed.group = 8
        mixed.rate = 300
        mixed.seconds = 1
        let report = try mixed.run(tiny())
        // How many are done in that time depends on the machine.
        #expect(try #require(report.value("things done")) > 0)
        #expect(try #require(report.value("events delivered")) > 0)
    }

    @Test func `mixed, beside messages`() throws {
        var mixed = Mixed()
        mixed.accounts = 30
        mixed.group = 8
        mixed.rate = 300
        mixed.messages = 100
        mixed.seconds = 2
        let report = try mixed.run(tiny())
        // How many are done in that time depends on the machine.
        #expect(try #require(report.value("messages taken")) > 0)
        #expect(try #require(report.value("commit without messages p99")) > 0)
        #expect(try #require(report.value("commit with messages p99")) > 0)
        #expect(try #require(report.value("ratio of the p99 with messages")) > 0)
        #expect(report.table.contains("messages 100/s"))
    }

    @Test(arguments: [-1, 20_001])
    func `mixed, beside a wrong number of messages`(messages: Int) throws {
        var mixed = Mixed()
        mixed.messages = messages
        let error = #expect(throws: BenchError.self) { try mixed.run(tiny()) }
        #expect(error?.description == "\(messages) messages per second: 0 to 20000 are sent.")
    }

    @Test func `mixed, beside messages without commits to compare`() throws {
        var mixed = Mixed()
        mixed.messages = 1
        mixed.shares.statuses = 0
        mixed.shares.renewals = 0
        let error = #expect(throws: BenchError.self) { try mixed.run(tiny()) }
        #expect(error?.description.hasSuffix("give one of them a share.") == true)
    }
}
