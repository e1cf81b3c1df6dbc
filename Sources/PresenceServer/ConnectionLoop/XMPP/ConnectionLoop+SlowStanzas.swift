import Containers
import PresenceCore
import PresenceXMPP

// Stanzas that arrive slowly. A native frame must be complete within `frameSeconds`. A stanza may
// have a picture in it and arrive over a slow line, and the stream cannot go on without its rest:
// so it is waited for while it arrives, up to a limit.

/// How a stanza arrives that has begun and is not complete.
struct StanzaArrival {
    /// The bytes that must arrive in each period of `frameSeconds`.
    static let bytesMin = 256
    /// The periods in which the whole stanza must arrive.
    static let periodsMax = 12

    /// Bytes that had arrived at the end of the last period.
    private var bytes: Int
    /// Periods that have ended.
    private var periods = 0

    /// The arrival of a stanza of which this number of bytes is there.
    init(bytes: Int = 0) { self.bytes = bytes }

    /// A period has ended. Returns whether the stanza has another.
    mutating func hasNextPeriod(bytes now: Int) -> Bool {
        periods += 1
        defer { bytes = now }
        return periods < Self.periodsMax && now - bytes >= Self.bytesMin
    }
}

extension ConnectionLoop where Link: ~Copyable {
    /// Begins to watch a stanza that has begun, unless it is watched already.
    mutating func watchStanza(of client: XMPPConnection, in slot: Int, isNew: Bool) {
        if isNew || !connections[slot].deadline.isSet {
            client.arrival = StanzaArrival(bytes: client.stream.bytesBuffered)
        }
        watchFrame(of: slot, isNew: isNew)
    }

    /// Gives the stanza that has begun another period, or ends the stream.
    mutating func periodEnded(in slot: Int) {
        guard let client = xmpp?[slot], let service = xmpp?.service else { return }
        let seconds = configuration.connection.frameSeconds
        if client.arrival.hasNextPeriod(bytes: client.stream.bytesBuffered) {
            return setDeadline(of: slot, afterSeconds: seconds)
        }
        let error = StreamError(
            .policyViolation,
            "The stanza was not complete in time. Send at least \(StanzaArrival.bytesMin) bytes "
                + "of it in \(seconds) s, and all of it in \(seconds * StanzaArrival.periodsMax) s."
        )
        var random = SystemRandomNumberGenerator()
        client.stream.close(error, of: service, using: &random)
        say(slot)
        endStream(slot, after: error)
    }
}
