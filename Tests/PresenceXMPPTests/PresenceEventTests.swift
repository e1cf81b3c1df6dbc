import Testing
import XML

@testable import PresenceCore
@testable import PresenceXMPP

/// Events as the engine makes them.
private final class Stage {
    var effects = Effects()

    func range(_ text: String) -> ByteRange {
        defer { effects.bytes += bytes(text) }
        return ByteRange(start: Int32(effects.bytes.count), count: Int32(text.utf8.count))
    }

    func device(
        _ name: String, _ availability: Availability? = nil, reach: Reach = .connection
    ) -> DeviceEntry {
        var device = DeviceEntry(client: .ios, name: range(name), reach: reach)
        if let availability {
            device.availability = Int32(effects.availabilities.count)
            effects.availabilities.append(availability)
        }
        return device
    }

    func event(
        _ cause: Cause, origin: DeviceEntry? = nil, online: [DeviceEntry] = [],
        type: EventType = .presence, value: Int32 = 1
    ) -> Event {
        let start = effects.devices.count
        effects.devices += online
        var event = Event(
            type: type, publisher: range("Bob"), value: value, cause: cause, seq: 1,
            time: Wall(milliseconds: 86_400_000))
        event.origin = origin
        event.online = start..<effects.devices.count
        return event
    }

    /// Stanzas as their receiver gets them.
    private func written(_ template: StanzaTemplate) -> [UInt8] {
        var output: [UInt8] = []
        template.append(
            to: bytes("alice@example.org"), at: bytes("example.org"), into: &output)
        return output
    }

    /// A presence for one address, as its receiver gets it.
    func written(_ presence: DirectedPresence) -> String {
        var template = StanzaTemplate()
        template.append(presence, in: effects)
        return text(written(template))
    }

    /// The presences of an event, as one receiver gets them.
    func presences(_ event: Event) throws -> [String] {
        var template = StanzaTemplate()
        template.append(event, in: effects)
        let reader = XMLReader(hashSalt: 1)
        let all = bytes("<all>") + written(template) + bytes("</all>")
        let stanzas = try reader.readStanza(all.span.bytes, in: .standard)
        // The domain of the sender, and the receiver.
        let gaps = Array(stanzas.elements).flatMap { _ in
            [StanzaTemplate.Filling.domain, .receiver]
        }
        #expect(template.gaps.map(\.filling) == gaps)
        return stanzas.elements.map { stanza in
            #expect(stanza.attribute("to").map(Array.init) == bytes("alice@example.org"))
            let device = stanza.attribute("from").flatMap { JID($0) }?.resource ?? []
            let words = [stanza.attribute("type").map(Array.init) ?? bytes("available"), device]
            let show = stanza.first("show", in: "jabber:client")?.text ?? []
            let value = stanza.first("value", in: "urn:porchlight:status:0")
            let rest = [
                show, value.flatMap { $0.attribute("value") }.map(Array.init) ?? [],
                stanza.first("delay", in: "urn:xmpp:delay")?.attribute("stamp").map(Array.init)
                    ?? [],
            ]
            return (words + rest.filter { !$0.isEmpty }).map { text($0) }
                .joined(separator: " ")
        }
    }
}

@Suite struct `Events as presences` {
    private let stage = Stage()
    private let away = Availability(show: .away)

    @Test func `are those of the device that caused them`() throws {
        let phone = stage.device("phone", away)
        let tablet = stage.device("tab")
        let both = [phone, tablet]
        #expect(
            try stage.presences(stage.event(.login, origin: phone, online: both))
                == ["available phone away"])
        #expect(
            try stage.presences(stage.event(.changed, origin: tablet, online: both))
                == ["available tab"])
        for cause in [Cause.logout, .disconnect, .kicked, .restart] {
            #expect(
                try stage.presences(stage.event(cause, origin: phone, online: [tablet]))
                    == ["unavailable phone"])
        }
    }

    @Test func `are those of all devices when the account's status changes`() throws {
        let both = [stage.device("phone", away), stage.device("tab")]
        for cause in [Cause.cleared, .expired] {
            #expect(
                try stage.presences(stage.event(cause, online: both))
                    == ["available phone away", "available tab"])
        }
        var event = stage.event(.publish, online: both)
        event.status = StatusEntry(
            value: 10_001, ext: stage.range("<ext>"), expires: Wall(milliseconds: 0))
        #expect(
            try stage.presences(event) == ["available phone away 10001", "available tab 10001"])
        // Nothing is online that could show it.
        #expect(try stage.presences(stage.event(.publish)) == [])
    }

    @Test func `are those of all devices as a state`() throws {
        let devices = [stage.device("phone", away), stage.device("tv", reach: .push)]
        // Since when they show themselves so is not known.
        for cause in [Cause.sync, .shown] {
            #expect(
                try stage.presences(stage.event(cause, online: devices))
                    == ["available phone away", "available tv xa"])
        }
        var gone = stage.event(.sync, value: 2)
        gone.lastSeen = Wall(milliseconds: 1_000)
        #expect(try stage.presences(gone) == ["unavailable  1970-01-01T00:00:01Z"])
        #expect(try stage.presences(stage.event(.sync, value: 0)) == ["unavailable "])
    }

    @Test func `withdraw what was seen`() throws {
        let start = stage.effects.devices.count
        stage.effects.devices += [stage.device("phone", away), stage.device("tab")]
        var event = stage.event(.hidden, value: 0)
        event.withdrawn = start..<start + 2
        #expect(try stage.presences(event) == ["unavailable phone", "unavailable tab"])
    }

    @Test func `go to one address`() {
        let away = Availability(show: .away, text: bytes("<&>"), extra: bytes("<x xmlns='u'/>"))
        var presence = DirectedPresence(
            account: AccountHandle(index: 0), sender: stage.range("Bob"),
            device: stage.device("a'b", away), kind: .available)
        let start = "<presence from='\\42ob@example.org/a&apos;b' to='alice@example.org"
        let content = "<status>&lt;&amp;&gt;</status><x xmlns='u'/></presence>"
        #expect(stage.written(presence) == start + "'><show>away</show>" + content)
        presence.addressed = stage.range("my 'phone'")
        #expect(
            stage.written(presence)
                == start + "/my &apos;phone&apos;'><show>away</show>" + content)
        presence.kind = .unavailable
        presence.addressed = nil
        #expect(stage.written(presence) == start + "' type='unavailable'>" + content)
        presence.device.availability = nil
        #expect(stage.written(presence) == start + "' type='unavailable'/>")
    }

    @Test func `are only those of presence`() throws {
        let phone = stage.device("phone")
        let event = stage.event(
            .publish, origin: phone, online: [phone], type: EventType(number: 100))
        #expect(try stage.presences(event) == [])
    }

    @Test func `begin again with the memory that they have`() throws {
        var template = StanzaTemplate()
        let phone = stage.device("phone")
        let event = stage.event(.login, origin: phone, online: [phone])
        template.append(event, in: stage.effects)
        #expect(!template.isEmpty && template.gaps.count == 2)
        template.removeAll()
        #expect(template == StanzaTemplate() && template.isEmpty)
        var output: [UInt8] = []
        template.append(to: bytes("a@b"), at: bytes("b"), into: &output)
        #expect(output.isEmpty)
    }

    @Test func `go with changes of contacts`() throws {
        let label = try #require(ContactLabel(name: bytes("B"), groups: [bytes("g")]))
        var contact = ContactEntry(
            account: stage.range("bob"), label: stage.range(text(label.bytes)), seen: .active,
            sees: .pending, isApprovedBefore: false, isListed: true)
        contact.requestText = stage.range("Hi")
        contact.requestExtra = stage.range("<x xmlns='u'/>")
        #expect(
            RosterItem(contact, in: stage.effects)
                == RosterItem(account: bytes("bob"), label: label, seen: .active, sees: .pending))
        #expect(
            try written { $0.append(.subscribe, of: contact, in: stage.effects, to: alice) } == """
                <presence from='bob@example.org' to='alice@example.org' type='subscribe'>\
                <status>Hi</status><x xmlns='u'/></presence>
                """)
        #expect(
            try written { $0.append(.unsubscribed, of: contact, in: stage.effects, to: alice) }
                == "<presence from='bob@example.org' to='alice@example.org' type='unsubscribed'/>")
    }
}
