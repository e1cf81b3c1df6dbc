import Testing

@testable import PresenceCore

/// The states of RFC 6121, appendix A, as the account that keeps the list sees them, each cell from
/// both sides. https://www.rfc-editor.org/rfc/rfc6121#appendix-A
@Suite struct `The states of a relationship` {
    /// What a cell says: what the server does with the stanza, and the new state.
    struct Cell: Hashable {
        /// Whether the other side's client is told (outbound: routed; inbound: delivered).
        var isPassedOn: Bool
        var state: String
    }

    static let words: [RelationWord] = [.subscribe, .unsubscribe, .subscribed, .unsubscribed]

    /// N none, T to, F from, B both; o and i: pending out and in. In each row: outbound subscribe,
    /// unsubscribe, subscribed, unsubscribed, then the same inbound; `+` is passed on, `-` is not.
    /// A word that changes nothing is dropped where the RFC lets one server do so.
    static let table: [(state: String, outbound: [String], inbound: [String])] = [
        ("N", ["+No", "-N", "-N", "-N"], ["+Ni", "-N", "-N", "-N"]),
        ("No", ["-No", "+N", "-No", "-No"], ["+Noi", "-No", "+T", "+N"]),
        ("Ni", ["+Noi", "-Ni", "+F", "+N"], ["-Ni", "+N", "-Ni", "-Ni"]),
        ("Noi", ["-Noi", "+Ni", "+Fo", "+No"], ["-Noi", "+No", "+Ti", "+Ni"]),
        ("T", ["-T", "+N", "-T", "-T"], ["+Ti", "-T", "-T", "+N"]),
        ("Ti", ["-Ti", "+Ni", "+B", "+T"], ["-Ti", "+T", "-Ti", "+Ni"]),
        ("F", ["+Fo", "-F", "-F", "+N"], ["-F", "+N", "-F", "-F"]),
        ("Fo", ["-Fo", "+F", "-Fo", "+No"], ["-Fo", "+No", "+B", "+F"]),
        ("B", ["-B", "+F", "-B", "+T"], ["-B", "+T", "-B", "+F"]),
    ]

    /// The pair in which the account that acts is in this state.
    static func pair(_ state: String) -> Pair {
        var pair = Pair(own: PairSide(), other: PairSide())
        let isTo = state.hasPrefix("T") || state.hasPrefix("B")
        let isFrom = state.hasPrefix("F") || state.hasPrefix("B")
        pair.own.seen = isTo ? .active : state.contains("o") ? .pending : .none
        pair.other.seen = isFrom ? .active : state.contains("i") ? .pending : .none
        return pair
    }

    static func state(_ pair: Pair) -> String {
        let main =
            switch (pair.own.seen == .active, pair.other.seen == .active) {
            case (false, false): "N"
            case (true, false): "T"
            case (false, true): "F"
            case (true, true): "B"
            }
        return main + (pair.own.seen == .pending ? "o" : "")
            + (pair.other.seen == .pending ? "i" : "")
    }

    @Test func `are those of the RFC when the account speaks`() {
        for row in Self.table {
            for (word, expected) in zip(Self.words, row.outbound) {
                let change = PairChange(Self.pair(row.state), .say(word, text: nil))
                let found = (change.sent.isEmpty ? "-" : "+") + Self.state(change.pair)
                #expect(found == expected, "\(row.state), outbound \(word)")
                #expect(change.sent.isEmpty || change.sent == [word])
            }
        }
    }

    @Test func `are those of the RFC when the contact speaks`() {
        for row in Self.table {
            for (word, expected) in zip(Self.words, row.inbound) {
                let pair = Self.pair(row.state)
                let change = PairChange(
                    Pair(own: pair.other, other: pair.own), .say(word, text: nil))
                let seen = Pair(own: change.pair.other, other: change.pair.own)
                let found = (change.sent.isEmpty ? "-" : "+") + Self.state(seen)
                #expect(found == expected, "\(row.state), inbound \(word)")
            }
        }
    }

    @Test func `a request of who sees already is answered again`() {
        for state in ["T", "B", "Ti"] {
            #expect(PairChange(Self.pair(state), .say(.subscribe, text: nil)).isAnswered)
        }
        #expect(!PairChange(Self.pair("N"), .say(.subscribe, text: nil)).isAnswered)
    }

    @Test func `an approval before the request answers it at once and is then used up`() {
        var pair = PairChange(Self.pair("N"), .say(.subscribed, text: nil)).pair
        #expect(pair.own.approvesBefore && pair.own.isListed)
        swap(&pair.own, &pair.other)
        let change = PairChange(pair, .say(.subscribe, text: [1]))
        #expect(change.isAnswered && change.sent.isEmpty)
        #expect(change.pair.own.seen == .active && !change.pair.other.approvesBefore)
        #expect(change.pair.own.request == .none)
    }

    @Test func `the first content of a request stands`() {
        let content = RequestContent(text: [1], extra: [2])
        let asked = PairChange(Self.pair("N"), .say(.subscribe, content)).pair
        let again = PairChange(asked, .say(.subscribe, text: [2])).pair
        #expect(again.own.request == content)
        #expect(PairChange(again, .say(.unsubscribe, text: nil)).pair.own.request == .none)
    }

    @Test func `removal ends both directions and forgets the label`() throws {
        for row in Self.table {
            var pair = Self.pair(row.state)
            pair.own.isListed = true
            pair.other.isListed = true
            pair.own.label = try #require(
                ContactLabel(name: [65], groups: [[66], [67]]))
            let change = PairChange(pair, .remove)
            #expect(change.pair.own.isEmpty, "\(row.state)")
            #expect(change.pair.other.seen == .none && change.pair.other.isListed)
            var told: [RelationWord] = []
            if pair.own.seen != .none { told.append(.unsubscribe) }
            if pair.other.seen != .none { told.append(.unsubscribed) }
            #expect(change.sent == told)
        }
    }
}

@Suite struct `The label of a contact` {
    @Test func `keeps a name and groups`() throws {
        let label = try #require(
            ContactLabel(name: Array("Al".utf8), groups: [Array("a".utf8), Array("b c".utf8)]))
        #expect(label.name.elementsEqual("Al".utf8))
        #expect(label.groups.map { String(decoding: $0, as: UTF8.self) } == ["a", "b c"])
        #expect(ContactLabel.none.name.isEmpty && ContactLabel.none.groups.isEmpty)
        let unnamed = try #require(ContactLabel(name: [], groups: [[65]]))
        #expect(unnamed.name.isEmpty && unnamed.groups.map(Array.init) == [[65]])
    }

    @Test func `has limits`() {
        func some(_ count: Int, _ byte: UInt8 = 65) -> [UInt8] {
            Array(repeating: byte, count: count)
        }
        #expect(ContactLabel(name: some(1_023), groups: [some(1_023)]) != nil)
        #expect(ContactLabel(name: some(1_024), groups: []) == nil)
        #expect(ContactLabel(name: [], groups: [some(1_024)]) == nil)
        let groups = (65..<68).map { some(1_023, $0) }
        #expect(ContactLabel(name: some(1_023), groups: groups)?.bytes.count == 4_095)
        #expect(ContactLabel(name: some(1_023), groups: groups + [[70]]) == nil)
        #expect(ContactLabel(name: [], groups: [[]]) == nil)
        #expect(ContactLabel(name: [], groups: [[65], [65]]) == nil)
        #expect(ContactLabel(name: [0x1F], groups: []) == nil)
        #expect(ContactLabel(name: [], groups: [[10]]) == nil)
    }
}
