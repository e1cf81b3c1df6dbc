import PresenceWire
import Testing

@testable import PresenceCore

/// Whom a request to send is for.
@Suite struct RecipientTests {
    private func decoded(_ members: String) -> Decoded {
        Decoded.params("send", #"{"body":"x",\#(members)}"#)
    }

    private func recipients(_ members: String) -> Recipients? {
        guard case .command(.send(_, let send)) = decoded(members).method else { return nil }
        return send.recipients
    }

    private func list(_ start: Int32, _ count: Int32) -> NameList {
        NameList(start: start, count: count)
    }

    @Test func `are accounts, aliases or tags`() {
        #expect(recipients(#""accounts":["a","b"]"#) == .accounts(list(0, 2)))
        #expect(recipients(#""aliases":["a","b","a"]"#) == .aliases(list(0, 2)))
        #expect(
            recipients(#""tags":["a"],"tagsAll":["b","c"],"tagsNot":["d"]"#)
                == .tags(.init(any: list(0, 1), all: list(1, 2), not: list(3, 1))))
        #expect(
            recipients(#""tagsAll":["a"]"#) == .tags(.init(any: nil, all: list(0, 1), not: nil)))
        #expect(decoded(#""aliases":["a","b","a"]"#).names == ["a", "b"])
    }

    @Test(
        arguments: [
            (#""ext":"""#, Rejection(.missingField, field: .accounts)),
            (#""tagsNot":["a"]"#, Rejection(.missingField, field: .tags)),
            (
                #""accounts":["a"],"aliases":["a"]"#, Rejection(.duplicateField, field: .aliases)
            ),
            (#""aliases":["a"],"tags":["a"]"#, Rejection(.duplicateField, field: .aliases)),
            (#""accounts":["a"],"tags":["a"]"#, Rejection(.duplicateField, field: .tags)),
            (#""accounts":["a"],"tagsAll":["a"]"#, Rejection(.duplicateField, field: .tagsAll)),
            (#""accounts":["a"],"tagsNot":["a"]"#, Rejection(.missingField, field: .tags)),
            (#""aliases":["a"],"device":"d""#, Rejection(.outOfRange, field: .device)),
            (#""tags":["a"],"device":"d""#, Rejection(.outOfRange, field: .device)),
            (#""aliases":"a""#, Rejection(.wrongType, field: .aliases)),
            (#""tags":[1]"#, Rejection(.wrongType, field: .tags, index: 0)),
            (#""tagsAll":null"#, Rejection(.wrongType, field: .tagsAll)),
            (#""aliases":[]"#, Rejection(.outOfRange, field: .aliases, min: 1, max: 100)),
            (#""tagsNot":[]"#, Rejection(.outOfRange, field: .tagsNot, min: 1, max: 20)),
            (#""tags":[""]"#, Rejection(.invalidName, field: .tags, limit: 40, index: 0)),
        ])
    func `of which there is exactly one kind`(members: String, rejection: Rejection) {
        #expect(decoded(members).rejection == rejection)
    }

    @Test(arguments: [("aliases", 100), ("tags", 20), ("tagsAll", 20)])
    func `of labels there are as many as the limit`(member: String, limit: Int) {
        func rejection(_ count: Int) -> Rejection? {
            let labels = (0..<count).map { #""t\#($0)""# }.joined(separator: ",")
            return decoded(#""\#(member)":[\#(labels),"t0"]"#).rejection
        }
        #expect(rejection(limit) == nil)
        #expect(rejection(limit + 1)?.reason == .tooMany && rejection(limit + 1)?.limit == limit)
    }

    @Test func `labels are as long as those of devices`() {
        let longest = String(repeating: "中", count: 13) + "x"
        #expect(decoded(#""aliases":["\#(longest)"]"#).rejection == nil)
        #expect(
            decoded(#""aliases":["\#(longest)x"]"#).rejection
                == Rejection(.tooLong, field: .aliases, limit: 40, count: 41, index: 0))
    }
}
