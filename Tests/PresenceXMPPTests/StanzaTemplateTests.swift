import Testing

@testable import PresenceCore
@testable import PresenceXMPP

@Suite struct `Stanzas for many receivers` {
    /// Parts with gaps at both ends, beside each other, and none.
    private func template() -> (StanzaTemplate, [StanzaTemplate.Part]) {
        var template = StanzaTemplate()
        var ends = [StanzaTemplate.End.none]
        func end() { ends.append(template.end) }
        template.bytes += bytes("<a from='x@")
        template.appendGap(for: .domain)
        template.bytes += bytes("' to='")
        template.appendGap(for: .receiver)
        template.bytes += bytes("'/>")
        end()
        template.appendGap(for: .receiver)
        template.appendGap(for: .domain)
        template.bytes += bytes("b")
        template.appendGap(for: .domain)
        end()
        end()
        template.bytes += bytes("<c/>")
        end()
        return (template, zip(ends, ends.dropFirst()).map { StanzaTemplate.Part(from: $0, to: $1) })
    }

    private func written(
        _ part: StanzaTemplate.Part, of template: StanzaTemplate, to name: String, at domain: String
    ) -> String {
        var filled = DomainStanzas()
        filled.fill(part, of: template, at: bytes(domain))
        var output: [UInt8] = []
        output.append(filled, to: bytes(name + "@" + domain))
        return text(output)
    }

    private let expected = [
        "<a from='x@e.org' to='bob@e.org'/>", "bob@e.orge.orgbe.org", "", "<c/>",
    ]

    @Test func `are written part by part for a domain`() {
        let (template, parts) = template()
        #expect(parts.map { written($0, of: template, to: "bob", at: "e.org") } == expected)
        #expect(
            written(parts[0], of: template, to: "al", at: "longer.example")
                == "<a from='x@longer.example' to='al@longer.example'/>")
        var whole: [UInt8] = []
        template.append(to: bytes("bob@e.org"), at: bytes("e.org"), into: &whole)
        #expect(text(whole) == expected.joined())
        #expect(written(template.whole, of: template, to: "bob", at: "e.org") == expected.joined())
    }

    @Test func `keep gaps for the receivers of a domain`() {
        let (template, parts) = template()
        var filled = DomainStanzas()
        filled.fill(parts[1], of: template, at: bytes("e.org"))
        #expect(filled.gaps == [0] && text(filled.bytes) == "e.orgbe.org")
        // It is asked for again by receivers of the same domain, and of another.
        filled.fillOnce(parts[0], of: template, at: bytes("e.org"))
        #expect(filled.gaps == [0])
        filled.fillOnce(parts[0], of: template, at: bytes("o.org"))
        #expect(filled.gaps == [22] && text(filled.bytes) == "<a from='x@o.org' to=''/>")
        filled.removeAll()
        #expect(filled.bytes.isEmpty && filled.gaps.isEmpty && filled.domain.isEmpty)
    }

    @Test func `are copied with their gaps`() {
        let (template, parts) = template()
        for part in parts {
            var copy = StanzaTemplate()
            copy.append(parts[0], of: template)
            let start = copy.end
            copy.append(part, of: template)
            #expect(copy.byteCount >= part.byteCount)
            let copied = StanzaTemplate.Part(from: start, to: copy.end)
            #expect(
                written(copied, of: copy, to: "bob", at: "e.org")
                    == written(part, of: template, to: "bob", at: "e.org"))
            copy.removeAll(after: start)
            var first = StanzaTemplate()
            first.append(parts[0], of: template)
            #expect(copy == first)
        }
    }

    @Test func `have a hash of their sender, whatever follows`() {
        func hash(account: String, device: String, text: String) -> Int {
            var effects = Effects()
            func add(_ text: String) -> ByteRange {
                let start = Int32(effects.bytes.count)
                effects.bytes += bytes(text)
                return ByteRange(start: start, count: Int32(text.utf8.count))
            }
            effects.availabilities = [Availability(text: bytes(text))]
            var entry = DeviceEntry(client: .ios, name: add(device), reach: .connection)
            entry.availability = 0
            let presence = DirectedPresence(
                account: AccountHandle(index: 0), sender: add(account), device: entry,
                kind: .available)
            var template = StanzaTemplate()
            template.append(presence, in: effects)
            let start = template.end
            template.append(presence, in: effects)
            let part = StanzaTemplate.Part(from: start, to: template.end)
            #expect(template.hashOfSender(in: template.whole) == template.hashOfSender(in: part))
            return template.hashOfSender(in: part)
        }
        let phone = hash(account: "bob", device: "phone", text: "a")
        #expect(phone == hash(account: "bob", device: "phone", text: "b"))
        #expect(phone != hash(account: "bob", device: "tablet", text: "a"))
        #expect(phone != hash(account: "carol", device: "phone", text: "a"))
    }
}
