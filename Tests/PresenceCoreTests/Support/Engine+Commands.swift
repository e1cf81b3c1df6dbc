import PresenceCore

extension Engine {
    /// A command as the service has it handled: once its peer has permission, or rejected.
    mutating func handle(
        _ command: Command, _ texts: TextSource, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        do throws(Rejection) {
            let authorised = try authorise(command, texts, from: connection)
            handle(authorised, texts, at: now, into: &effects)
        } catch {
            effects.items.append(.reject(connection, error))
        }
    }
}
