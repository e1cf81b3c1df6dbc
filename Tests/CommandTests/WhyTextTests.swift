import PresenceClient
import Testing

@testable import porchlight

@Suite struct `The story that why tells` {
    /// Facts of two who know each other, with what the test changes.
    func facts(_ changes: [String: JSON] = [:]) -> JSON {
        let party: (String) -> JSON = { name in
            ["account": .string(name), "known": true, "sessions": [], "pastConnections": []]
        }
        var facts: [String: JSON] = [
            "time": 1_763_700_100_000, "subscriber": party("alice"), "publisher": party("bob"),
            "state": ["online": []], "pastSubscriptions": [], "events": [],
            "completeSince": [
                "events": 1_763_700_000_000, "subscriptions": 1_763_700_000_000,
                "connections": 1_763_700_000_000, "delays": 1_763_700_000_000,
            ],
        ]
        for (name, value) in changes { facts[name] = value }
        return .object(facts)
    }

    func party(_ name: String, _ sessions: [JSON] = [], past: [JSON] = []) -> JSON {
        [
            "account": .string(name), "known": true, "sessions": .array(sessions),
            "pastConnections": .array(past),
        ]
    }

    func session(_ connection: JSON, behind: JSON = 0, waiting: JSON = 0) -> JSON {
        [
            "device": "d1", "client": "web", "since": 1_763_700_000_000,
            "lastHeard": 1_763_700_096_000, "connection": connection, "behind": behind,
            "bytesWaiting": waiting, "listing": false,
        ]
    }

    func event(_ changes: [String: JSON]) -> JSON {
        var event: [String: JSON] = [
            "time": 1_763_700_050_000, "cause": "publish", "value": 10_001, "seq": 42,
            "subscribed": "yes", "complete": true, "connections": [],
        ]
        for (name, value) in changes { event[name] = value }
        return .object(event)
    }

    static let subscription: JSON = [
        "created": 1_763_700_000_000, "expires": 1_763_703_600_000,
    ]

    func says(_ facts: JSON, _ words: String) -> Bool {
        WhyText(facts).lines.contains { $0.contains(words) }
    }

    @Test func `tells of relationships and visibility`() {
        let here = party("alice", [session("connected")])
        let online: JSON = ["online": [["device": "d1", "client": "ios"]]]
        for (changes, words) in [
            (["relationship": "accepted"], "alice sees bob online."),
            (["relationship": "asked"], "alice does not see bob: it has asked, and bob has not"),
            (["visibility": "approved"], "only contacts that bob has accepted see it."),
            (
                ["visibility": "approved", "subscription": Self.subscription],
                "only contacts that bob has accepted see it."
            ),
            (
                ["visibility": "approved", "relationship": "asked"],
                "accepted see it, and it has not answered alice."
            ),
            (["visibility": "approved", "relationship": "accepted"], "alice sees bob online."),
            (["visibility": "hidden", "relationship": "accepted"], "bob is hidden from all."),
        ] as [([String: JSON], String)] {
            let facts = facts(changes.merging(["subscriber": here, "state": online]) { $1 })
            #expect(says(facts, words), "\(WhyText(facts).lines.first ?? "")")
        }
        let deaf: JSON = ["device": "d1", "connection": "connected", "sees": false]
        let facts = facts([
            "relationship": "accepted", "subscriber": party("alice", [deaf]),
        ])
        #expect(says(facts, "has not logged in with `contacts`"))
    }

    @Test func `begins with whether one sees the other`() {
        let here = party("alice", [session("connected")])
        let late = party("alice", [session("connected", behind: 3, waiting: 70_000)])
        let stranger: JSON = ["account": "alice", "known": false]
        for (changes, words) in [
            (
                ["subscriber": stranger],
                "alice does not see bob: the service does not know alice now. alice has no "
                    + "session, no subscription, no subscriber and no status; if it had any, they "
                    + "are forgotten."
            ),
            ([:], "alice does not see bob: there is no subscription."),
            (["subscription": Self.subscription], "alice would see bob, but is not connected."),
            (
                ["subscription": Self.subscription, "subscriber": late],
                "alice sees bob with a delay: it does not read fast enough now."
            ),
            (
                ["subscription": Self.subscription, "subscriber": here],
                "alice sees bob offline, which is correct."
            ),
            (
                [
                    "subscription": Self.subscription, "subscriber": here,
                    "state": ["online": [["device": "d"]]],
                ], "alice sees bob online."
            ),
        ] as [([String: JSON], String)] {
            #expect(WhyText(facts(changes)).lines.first == words)
        }
    }

    @Test(arguments: [("subscriber", "alice"), ("publisher", "bob")])
    func `does not claim that an account was never known`(party: String, name: String) {
        let facts = facts([party: ["account": .string(name), "known": false]])
        #expect(says(facts, "he service does not know \(name) now. \(name) has no session"))
        #expect(says(facts, "if it had any, they are forgotten."))
        #expect(!says(facts, "never"))
    }

    @Test(arguments: [
        ("expired", "expired at"), ("unsubscribed", "was ended by alice at"),
        ("unsubscribed_by_app_server", "was ended by an app server at"),
    ])
    func `says how a subscription ended`(how: String, words: String) {
        let past: JSON = [
            "created": 1_763_700_000_000, "ended": 1_763_700_060_000, "how": .string(how),
        ]
        #expect(says(facts(["pastSubscriptions": [past]]), words))
    }

    @Test(arguments: [
        ("connected", "bob is on web d1 since"), ("grace", "lost a moment ago, last heard 4 s ago"),
        ("push", "reachable by push only, last heard 4 s ago"),
        ("restart", "has not returned since the service restarted"),
    ])
    func `says how each session is reached`(connection: String, words: String) {
        let bob = party("bob", [session(.string(connection))])
        #expect(says(facts(["publisher": bob]), words))
    }

    @Test func `says that the loop of a session does not respond`() {
        let alice = party("alice", [session("connected", waiting: .null)])
        #expect(says(facts(["subscriber": alice]), "its connection loop does not respond"))
        #expect(!says(facts(["subscriber": alice]), "pending"))
    }

    @Test(arguments: [
        ("logout", "logged out."), ("kicked", "kicked by an app server."),
        ("replaced", "the same device logged in again."),
        ("idle_timeout", "heartbeat timeout, last heard"),
        ("too_slow", "closed, since it did not read what it was sent; 7 bytes were not delivered"),
        ("protocol_violation", "it sent an invalid frame."),
        ("lost", "the connection was lost, last heard"),
    ])
    func `says how each connection ended`(how: String, words: String) {
        let past: JSON = [
            "device": "d1", "client": "ios", "since": 1_763_700_000_000,
            "lastHeard": 1_763_700_010_000, "ended": 1_763_700_020_000, "how": .string(how),
            "bytesUnsent": how == "too_slow" ? 7 : 0,
        ]
        #expect(says(facts(["publisher": party("bob", past: [past])]), words))
    }

    @Test(arguments: [
        ("sent", "sent to d1"), ("listed", "sent to d1 as part of its login list"),
        ("conflated", "d1 was behind; the newest state followed at"),
        ("waiting", "d1 is behind; the newest state follows when it reads"),
        ("dropped", "before the newest state was sent"), ("uncertain", "it may not have arrived"),
        ("replaced", "a newer event replaced it"), ("in_progress", "in flight to d1"),
    ])
    func `says what became of an event`(fate: String, words: String) {
        let connection: JSON = [
            "device": "d1", "fate": .string(fate), "time": 1_763_700_060_000,
        ]
        #expect(says(facts(["events": [event(["connections": [connection]])]]), words))
    }

    @Test func `says why an event was not sent`() {
        let login: JSON = ["device": "tab", "time": 1_763_700_060_000, "sync": "all"]
        for (changes, words) in [
            (["subscribed": "no"], "not sent: alice was not subscribed to bob at that time"),
            (["subscribed": "unknown"], "unknown whether alice was subscribed to bob at that time"),
            (["complete": false], "unknown whether alice was connected at that time"),
            ([:], "not sent: alice was not connected at that time"),
            (["nextLogin": login], "got the state in its login list"),
        ] as [([String: JSON], String)] {
            #expect(says(facts(["events": [event(changes)]]), words))
        }
    }

    /// The sentences of a story; those below an event are of that event.
    func sentences(_ facts: JSON) -> [String] {
        WhyText(facts).lines.filter { !$0.isEmpty && !$0.hasPrefix("  ") }
            .flatMap { $0.split(separator: ". ").map(String.init) }
    }

    @Test func `says each thing once`() {
        let unknown: (String) -> JSON = { ["account": .string($0), "known": false] }
        for other in ["bob", "alice"] {
            for changes in [
                ["publisher": party(other)],
                ["subscriber": unknown("alice"), "publisher": unknown(other)],
                ["publisher": party(other), "subscription": Self.subscription],
            ] as [[String: JSON]] {
                let sentences = sentences(facts(changes))
                #expect(Set(sentences).count == sentences.count, "\(sentences)")
                for thing in [
                    "alice does not see", "the service does not know alice", "alice has no session",
                    "\(other) has no session",
                ] {
                    let times = sentences.count { $0.lowercased().contains(thing) }
                    #expect(times <= 1, "\(thing): \(sentences)")
                }
            }
        }
    }

    @Test func `says that an account does not see itself`() {
        let alone = facts(["publisher": party("alice")])
        let story = WhyText(alone).lines
        #expect(
            story.first == "alice does not see itself: an account sees itself only if it "
                + "subscribes to itself.")
        #expect(!story.contains { $0.contains("alice alice") || $0.contains("see alice") })
        let unknown: JSON = ["account": "alice", "known": false]
        #expect(
            says(
                facts(["subscriber": unknown, "publisher": unknown]),
                "alice does not see itself: the service does not know alice now."))
    }

    @Test func `speaks of one account that sees itself`() {
        let here = party("alice", [session("connected")])
        let both = [
            "subscriber": here, "publisher": here, "subscription": Self.subscription,
            "state": ["online": [["device": "d"]]],
        ]
        #expect(WhyText(facts(both)).lines.first == "alice sees itself online.")
        #expect(says(facts(both), "alice is subscribed to itself since"))
    }

    @Test func `shows the status, and how far back it all reaches`() {
        let status: JSON = ["value": 10_001, "ext": "a\u{1b}b", "expires": 1_763_703_600_000]
        let story = facts(["state": ["online": [], "status": status]])
        #expect(says(story, "The status of bob is 10001 “a\\u{1b}b”, until"))
        #expect(WhyText(story).lines.last?.hasPrefix("Nothing is known from before") == true)
    }

    @Test func `says what became of messages`() {
        func message(_ fate: String, from: String?, sent: Int, device: String? = nil) -> JSON {
            var facts: [String: JSON] = [
                "id": "000000000005M", "time": 1_763_700_010_000, "fate": .string(fate),
                "sent": .integer(Int64(sent)),
            ]
            facts["from"] = from.map { .string($0) }
            facts["device"] = device.map { .string($0) }
            if sent == 3 { facts["undelivered"] = "untaken" }
            if fate != "waiting" { facts["ended"] = 1_763_700_020_000 }
            return .object(facts)
        }
        let story = facts([
            "messages": [
                message("waiting", from: "alice", sent: 0),
                message("waiting", from: "bob", sent: 1),
                message("taken", from: "alice", sent: 3, device: "ph\u{1b}one"),
                message("expired", from: "bob", sent: 0),
                message("discarded", from: "bob", sent: 2),
            ]
        ])
        for words in [
            "Messages between alice and bob, newest first:",
            "from alice: waiting to be taken, not sent to a device  id 000000000005M",
            "from bob: waiting to be taken, sent once", "from alice: taken by ph\\u{1b}one at ",
            ", sent 3 times, undelivered (untaken)  id", "from bob: expired at ",
            "from bob: discarded by an app server at ",
        ] { #expect(says(story, words), "\(words): \(WhyText(story).lines)") }
        #expect(says(facts(["messages": []]), "No recent messages between alice and bob."))
        #expect(!says(facts(), "essages"))
        let alone = facts([
            "publisher": party("alice"),
            "messages": [message("taken", from: nil, sent: 1, device: "d")],
        ])
        #expect(says(alone, "Messages to alice from itself or the service, newest first:"))
        #expect(says(alone, "from the service: taken by d at "))
    }
}
