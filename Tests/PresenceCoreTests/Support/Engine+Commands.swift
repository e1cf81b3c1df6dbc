import PresenceCore

extension Engine {
    /// A command as the service has it handled: once its peer has permission, or refused.
    mutating func handle(
        _ command: Command, _ texts: TextSource, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        do throws(Refusal) {
            let authorised = try authorise(command, texts, from: connection)
            handle(authorised, texts, at: now, into: &effects)
        } catch {
            effects.items.append(.refuse(connection, error))
        }
    }
}
