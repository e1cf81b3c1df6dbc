import Containers

extension Engine {
    /// Sets how the device of a session presents itself, and notifies the subscribers.
    ///
    /// It is stored with the session, and no answer waits for it: it lasts no longer than that.
    mutating func setAvailability(
        _ availability: Availability, of client: ClientSession, at now: Moment,
        into effects: inout Effects
    ) throws(Rejection) {
        let session = client.session
        try checkPublishPace(of: client.account, at: now)
        effects.answer(client.connection, .availabilitySet)
        let isShownOtherwise = directed.noteShownAlike(session)
        guard isShownOtherwise || self.availability(of: session) != availability else { return }
        put(availability, of: session)
        // Its priority may be such now that it is sent what is for any device.
        lookAgain(for: session, into: &effects)
        effects.persist(.updateSession(record(of: session, into: &effects)))
        let topic = makeTopic(.presence, of: client.account)
        let origin = deviceEntry(of: session, into: &effects)
        emit(
            EventDraft(value: shownValue(of: topic), cause: .changed, origin: origin),
            on: topic,
            // An XMPP client is sent its own presence, too (RFC 6121, section 4.4.2).
            alsoTo: .allBut(sessions[session].client == .xmpp ? nil : client.connection),
            at: now,
            into: &effects)
    }

    /// The value of the state of an account that is online.
    func shownValue(of topic: TopicHandle) -> Int32 {
        let status = topics[topic.index].status
        return status == none ? OwnValue.login : statuses[status].value
    }

    /// How the device of a session presents itself.
    func availability(of session: UInt32) -> Availability {
        let number = sessions[session].availability
        return number == none ? Availability() : availabilities[number]
    }

    /// Keeps how the device of a session presents itself; as available takes no memory.
    mutating func put(_ availability: Availability, of session: UInt32) {
        let number = sessions[session].availability
        if availability == Availability() {
            guard number != none else { return }
            availabilities.remove(number)
            sessions[session].availability = none
        } else if number == none {
            sessions[session].availability = availabilities.insert(availability)
        } else {
            availabilities[number] = availability
        }
    }
}
