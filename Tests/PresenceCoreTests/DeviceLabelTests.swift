import Testing

@testable import PresenceCore

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The rejection of a change, if there is one.
private func rejection(
    _ change: DeviceChange, to before: DeviceLabels = .none
) -> Rejection? {
    do throws(Rejection) {
        _ = try change.applied(to: before)
        return nil
    } catch {
        return error
    }
}

private func rejection(alias: String) -> Rejection? { rejection(DeviceChange(alias: bytes(alias))) }

private func rejection(tags: [String]) -> Rejection? {
    rejection(DeviceChange(tags: tags.map(bytes)))
}

/// The rule for aliases and tags.
@Suite struct `Labels of devices` {
    @Test(arguments: [
        "a", "z", "A", "Z", "0", "9", "_", "中", "㐀", "𠮷", "﨎", "\u{4E00}", "\u{9FFF}",
        "\u{20000}", "user_42", "会员VIP",
    ])
    func `may have letters, digits, underscores and characters of Han`(label: String) {
        #expect(rejection(alias: label) == nil)
        #expect(rejection(tags: [label]) == nil)
    }

    /// Neighbours of what is allowed, numerals and marks of Chinese and Japanese texts, letters
    /// with accents and of full width, compatibility ideographs, and what ends a C string.
    @Test(arguments: [
        "@", "[", "`", "{", "/", ":", "^", ".", "-", " ", "\0", "\n", "\u{7F}", "\u{80}", "〇", "々",
        "，", "。", "é", "５", "Ａ", "\u{F900}", "\u{2F00}", "\u{2E80}", "あ", "ア", "한", "я",
        "😀", "\u{200D}", "\u{FE0F}", "\u{FEFF}", "\u{FFFD}", "\u{E000}", "\u{10FFFF}", "②",
    ])
    func `must not have others, of which the first is told`(text: String) throws {
        let character = try #require(text.unicodeScalars.first)
        #expect(
            rejection(alias: "中\(text)😀")
                == Rejection(.invalidAlias, field: .alias, character: character))
        #expect(
            rejection(tags: ["ok", "x", text])
                == Rejection(.invalidTag, field: .tags, index: 2, character: character))
    }

    @Test func `that look like one character may be two`() {
        #expect(
            rejection(alias: "e\u{301}")
                == Rejection(.invalidAlias, field: .alias, character: "\u{301}"))
    }

    @Test func `that are no UTF-8 have a replacement character`() {
        for label in [[0xFF], [0x61, 0xE4, 0xB8], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]] {
            #expect(
                rejection(DeviceChange(alias: label))
                    == Rejection(.invalidAlias, field: .alias, character: "\u{FFFD}"))
        }
    }

    @Test func `have at most 40 bytes`() {
        let long = String(repeating: "中", count: 13)
        #expect(rejection(alias: long + "a") == nil)
        #expect(
            rejection(alias: long + "ab")
                == Rejection(.aliasTooLong, field: .alias, limit: 40, count: 41))
        #expect(rejection(tags: ["b", long + "a"]) == nil)
        #expect(
            rejection(tags: ["b", "b", long + "中"])
                == Rejection(.tagTooLong, field: .tags, limit: 40, count: 42, index: 2))
    }

    @Test func `that are tags are not empty, and at most 100`() {
        #expect(
            rejection(tags: ["a", ""]) == Rejection(.invalidTag, field: .tags, index: 1))
        let hundred = (0..<100).map { "t\($0)" }
        #expect(rejection(tags: hundred + hundred) == nil)
        #expect(
            rejection(tags: hundred + hundred + ["one"])
                == Rejection(.tooManyTags, field: .tags, limit: 100, count: 101))
        #expect(
            rejection(tags: hundred + hundred + [""])
                == Rejection(.tooManyTags, field: .tags, limit: 100, count: 101))
    }

    @Test func `have at most 1,024 bytes together, with those that stay`() throws {
        // 24 tags of 40 bytes, and one of 24.
        var tags = (10..<34).map { bytes("\($0)" + String(repeating: "t", count: 38)) }
        tags.append(bytes(String(repeating: "u", count: 24)))
        let alias = bytes(String(repeating: "a", count: 40))
        let full = try DeviceChange(alias: alias, tags: tags + tags).applied(to: .none)
        #expect(full.tags.count == 25)
        tags[24].append(0x75)
        let expected = Rejection(.labelsTooLong, limit: 1_024, count: 1_025)
        #expect(rejection(DeviceChange(alias: alias, tags: tags)) == expected)
        #expect(rejection(DeviceChange(tags: tags), to: full) == expected)
        #expect(rejection(DeviceChange(alias: [], tags: tags), to: full) == nil)
        #expect(rejection(DeviceChange(alias: Array(alias.dropLast()), tags: tags)) == nil)
        let others = try DeviceChange(tags: tags).applied(to: .none)
        #expect(rejection(DeviceChange(alias: alias), to: others) == expected)
    }
}

/// What a change makes of the labels of a device.
@Suite struct `Changes of a device` {
    private static let before = DeviceLabels(
        alias: bytes("lisi"), tags: [bytes("vip"), bytes("a")], pushAddress: bytes("apns:6f"))

    @Test func `leave what they do not name, and remove what is empty`() throws {
        let before = Self.before
        #expect(
            try DeviceChange(alias: bytes("ls")).applied(to: before)
                == DeviceLabels(
                    alias: bytes("ls"), tags: before.tags, pushAddress: before.pushAddress))
        #expect(
            try DeviceChange(tags: [bytes("b")]).applied(to: before)
                == DeviceLabels(
                    alias: before.alias, tags: [bytes("b")], pushAddress: before.pushAddress))
        #expect(
            try DeviceChange(pushAddress: bytes("fcm:1")).applied(to: before)
                == DeviceLabels(
                    alias: before.alias, tags: before.tags, pushAddress: bytes("fcm:1")))
        #expect(
            try DeviceChange(alias: []).applied(to: before)
                == DeviceLabels(alias: [], tags: before.tags, pushAddress: before.pushAddress))
        let left = try DeviceChange(tags: [], pushAddress: []).applied(to: before)
        #expect(left == DeviceLabels(alias: before.alias, tags: [], pushAddress: []))
        #expect(!left.isEmpty)
        #expect(try DeviceChange.removal.applied(to: before) == .none)
        #expect(DeviceLabels.none.isEmpty)
    }

    @Test func `keep tags once, in the order of their bytes`() throws {
        let tags = ["vip", "中", "Z", "a", "vip", "Z"].map(bytes)
        let after = try DeviceChange(tags: tags).applied(to: .none)
        #expect(after.tags == ["Z", "a", "vip", "中"].map(bytes))
    }

    @Test func `name at least one of three`() {
        #expect(rejection(DeviceChange(), to: Self.before) == Rejection(.nothingSet))
    }

    @Test func `may have a push address of 2,048 bytes, whatever it says`() {
        #expect(rejection(DeviceChange(pushAddress: [UInt8](repeating: 0, count: 2_048))) == nil)
        #expect(
            rejection(DeviceChange(pushAddress: [UInt8](repeating: 0x22, count: 2_049)))
                == Rejection(.tooLong, field: .pushAddress, limit: 2_048, count: 2_049))
    }

    /// One defect of each kind; each is found when those before it are gone.
    @Test func `are rejected for the first defect in the order of the table`() {
        let long = String(repeating: "x", count: 41)
        let many = (0..<100).map { "t\($0)" }
        var change = DeviceChange(
            alias: bytes(long + "."), tags: (many + [long, long + "."]).map(bytes),
            pushAddress: [UInt8](repeating: 0x78, count: 2_049))
        var reasons: [Rejection.Reason?] = []
        func check() { reasons.append(rejection(change)?.reason) }
        check()
        change.alias = bytes(long)
        check()
        change.alias = bytes("x")
        check()
        change.tags = [bytes("ok"), bytes(long + "."), bytes(long)]
        check()
        change.tags = [bytes("ok"), bytes(long), bytes(long + ".")]
        check()
        change.tags = (10..<37).map { bytes("\($0)" + String(repeating: "t", count: 38)) }
        check()
        change.tags = []
        check()
        change.pushAddress = []
        check()
        #expect(
            reasons == [
                .invalidAlias, .aliasTooLong, .tooManyTags, .invalidTag, .tagTooLong,
                .labelsTooLong, .tooLong, nil,
            ])
    }

    @Test func `are the same after they were stored`() {
        for labels in [Self.before, .none, DeviceLabels(alias: [], tags: [], pushAddress: [0x1F])] {
            let restored = DeviceLabels(
                alias: labels.alias, storedTags: labels.storedTags,
                pushAddress: labels.pushAddress)
            #expect(restored == labels)
        }
        #expect(Self.before.storedTags == bytes("a\u{1F}vip"))
    }

    @Test func `are restored without what the length does not allow`() {
        let long = bytes(String(repeating: "x", count: 41))
        let restored = DeviceLabels(
            alias: long, storedTags: bytes("\u{1F}b\u{1F}\u{1F}") + long + bytes("\u{1F}b\u{1F}a"),
            pushAddress: [UInt8](repeating: 1, count: 2_049))
        #expect(
            restored == DeviceLabels(alias: [], tags: [bytes("a"), bytes("b")], pushAddress: []))
    }

    @Test func `cost effects no memory`() {
        #expect(MemoryLayout<Rejection>.size <= 106, "a rejection has room for the new members")
        let rejection = Rejection(.invalidTag, min: 3, max: 4, index: 99, character: "\u{10FFFF}")
        #expect(rejection.index == 99 && rejection.character == "\u{10FFFF}")
        #expect(rejection.min == 3 && rejection.max == 4)
        let without = Rejection(.invalidTag, min: 3, max: 4)
        #expect(without.index == nil && without.character == nil && without != rejection)
    }
}
