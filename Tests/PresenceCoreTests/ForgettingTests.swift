import Testing

@testable import PresenceCore

@Suite struct `Forgetting an account` {
    private let connection = ConnectionID(slot: 0, generation: 1)

    /// Records among effects have handles of accounts, and the caller asks for their names.
    @Test func `waits until the effects that may name it are carried out`() throws {
        let now = Moment(mono: Mono(milliseconds: 1), wall: Wall(milliseconds: 1))
        var engine = Engine(settings: Settings(), at: now, seed: 1)
        var effects = Effects()
        engine.logInAppServer(from: connection, at: now, into: &effects)
        effects.removeAll()
        var texts = RequestTexts()
        _ = texts.begin()
        let command = Command.clear(
            account: texts.add(Array("bob".utf8)), EventType(number: 100))
        engine.handle(command, texts.ofLast, from: connection, at: now, into: &effects)
        #expect(!effects.items.isEmpty)
        // Whatever is called next.
        engine.drained(connection, at: now, into: &effects)
        #expect(engine.find(Array("bob".utf8).span) != nil)
        effects.removeAll()
        engine.drained(connection, at: now, into: &effects)
        #expect(engine.find(Array("bob".utf8).span) == nil)
    }
}
