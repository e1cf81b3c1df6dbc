import PresenceClient
import PresenceServer
import Testing

@Suite struct Why {
    func why(_ service: RunningService, _ subscriber: String, _ publisher: String) throws -> JSON {
        let server = try service.appServer()
        return try server.call(
            "why",
            ["subscriber": .string(subscriber), "publisher": .string(publisher), "type": 1])
    }

    @Test func `tells what became of an event at a connection`() throws {
        try withService { service in
            let alice = try service.login("alice", "phone")
            _ = try alice.subscribe(["bob"])
            let bob = try service.login("bob")
            _ = try alice.nextEvent()
            let facts = try why(service, "alice", "bob")
            let event = try #require(facts["events"]?.array?.first)
            #expect(event["cause"] == "login")
            #expect(event["subscribed"] == "yes")
            #expect(event["receivers"] == 1)
            #expect(event["connections"]?.array?.map { $0["fate"] } == ["sent"])
            #expect(event["connections"]?.array?.map { $0["device"] } == ["phone"])
            #expect(facts["state"]?["online"]?.array?.count == 1)
            #expect(facts["subscription"]?["expires"]?.integer != nil)
            #expect(bob.rejection("why", ["type": 1]) == "403 forbidden")
        }
    }

    @Test func `tells who is behind, and that the newest state followed`() throws {
        try withService({ $0.switchOffPace() }) { service in
            let slow = try service.loginWithoutBuffer("slow", "phone")
            _ = try slow.subscribe(["bob"])
            try service.fallBehind(publisher: try service.login("bob"))
            let behind = try why(service, "slow", "bob")
            let session = behind["subscriber"]?["sessions"]?.array?.first
            #expect(session?["behind"] == 1)
            #expect((session?["bytesWaiting"]?.integer ?? 0) > 0)
            #expect(fates(behind).first == "waiting")
            let server = try service.appServer()
            let readers = try server.call("top")["readers"]?.array
            #expect(readers?.first?["account"] == "slow")
            #expect(readers?.first?["device"] == "phone")
            #expect(readers?.first?["behind"] == 1)
            while try !fates(why(service, "slow", "bob")).contains("conflated") {
                _ = try slow.nextNotification(withinMilliseconds: 100)
            }
            #expect(try server.call("metrics")["text"]?.string?.isEmpty == false)
        }
    }

    @Test func `tells what was dropped with a connection that took nothing`() throws {
        try withService({ $0.switchOffPace() }) { service in
            let slow = try service.loginWithoutBuffer("slow")
            _ = try slow.subscribe(["bob"])
            let bob = try service.login("bob")
            try service.fallBehind(publisher: bob)
            try service.closeTooSlow(keepingAlive: [slow, bob])
            let facts = try why(service, "slow", "bob")
            let past = facts["subscriber"]?["pastConnections"]?.array?.first
            #expect(past?["how"] == "too_slow")
            #expect((past?["bytesUnsent"]?.integer ?? 0) > 0)
            #expect(fates(facts).first == "dropped")
        }
    }

    @Test func `of names that nobody knows says so`() throws {
        try withService { service in
            let facts = try why(service, "x", "y")
            #expect(facts["subscriber"]?["known"] == false)
            #expect(facts["publisher"]?["known"] == false)
            #expect(facts["state"]?["value"] == 0)
            #expect(facts["events"] == [])
        }
    }

    @Test func `of names that only an app server used knows as long as these are needed`() throws {
        try withService { service in
            let server = try service.appServer()
            for (method, expiry) in [("subscribe", 3_600), ("unsubscribe", nil)]
                as [(String, JSON?)]
            {
                var params: [String: JSON] = ["account": "x", "type": 1, "publishers": ["y"]]
                params["expiry"] = expiry
                _ = try server.call(method, .object(params))
                let isKnown = method == "subscribe"
                let facts = try why(service, "x", "y")
                for party in ["subscriber", "publisher"] {
                    #expect(facts[party]?["known"] == .bool(isKnown))
                }
                #expect((facts["subscription"] != nil) == isKnown)
                #expect(facts["pastSubscriptions"] == [])
            }
        }
    }

    /// What became of the events at the first of the connections, the last event first.
    private func fates(_ facts: JSON) -> [String] {
        (facts["events"]?.array ?? []).compactMap {
            $0["connections"]?.array?.first?["fate"]?.string
        }
    }
}
