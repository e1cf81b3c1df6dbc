import PresenceCore

extension Engine {
    /// A command as the service has it handled: its peer has permission.
    mutating func handle(
        _ command: consuming Command, _ texts: TextSource, from connection: ConnectionID,
        at now: Moment, into effects: inout Effects
    ) {
        do {
            let command = try authorise(command, texts, from: connection)
            handle(command, texts, at: now, into: &effects)
        } catch {
            preconditionFailure("no permission: \(error)")
        }
    }
}
