internal import PresenceCore

// Responses with lists. A page of 1,000 entries fits into a frame, but 500 states with long
// texts may not: so every list stops where the frame is full and returns how many entries fit.

extension [UInt8] {
    /// Appends an array of states, or returns the number of those that end before `bound` if not
    /// all do. So do the others.
    mutating func appendStates(
        _ range: Range<Int>, in effects: borrowing Effects, upTo bound: Int
    ) -> Int? {
        let source = EventSource(effects)
        append("[")
        for index in range {
            let place: ElementPlace = index == range.lowerBound ? .first : .following
            appendEvent(effects.events[index], source, place)
            if count > bound { return index - range.lowerBound }
        }
        append("]")
        return nil
    }

    mutating func appendSubscriptions(
        _ range: Range<Int>, in effects: borrowing Effects, upTo bound: Int
    ) -> Int? {
        let source = EventSource(effects)
        append("[")
        for index in range {
            let entry = effects.subscriptions[index]
            appendEntry(entry, source, index == range.lowerBound ? .first : .following)
            if count > bound { return index - range.lowerBound }
        }
        append("]")
        return nil
    }

    mutating func appendSubscribers(
        _ range: Range<Int>, in effects: borrowing Effects, upTo bound: Int
    ) -> Int? {
        let source = EventSource(effects)
        append("[")
        for index in range {
            let entry = effects.subscribers[index]
            appendEntry(entry, source, index == range.lowerBound ? .first : .following)
            if count > bound { return index - range.lowerBound }
        }
        append("]")
        return nil
    }

    mutating func appendSessions(
        _ range: Range<Int>, in effects: borrowing Effects, upTo bound: Int
    ) -> Int? {
        let source = EventSource(effects)
        append("[")
        for index in range {
            let entry = effects.sessions[index]
            appendEntry(entry, source, index == range.lowerBound ? .first : .following)
            if count > bound { return index - range.lowerBound }
        }
        append("]")
        return nil
    }

    private mutating func appendEntry(
        _ entry: SubscriptionEntry, _ source: borrowing EventSource, _ place: ElementPlace
    ) {
        append(place == .first ? #"{"type":"# : #",{"type":"#, Int(entry.type.number))
        append(#","publisher":"#)
        appendString(entry.publisher, source)
        append(#","created":"#, entry.created)
        append(#","expires":"#, entry.expires)
        append("}")
    }

    private mutating func appendEntry(
        _ entry: SubscriberEntry, _ source: borrowing EventSource, _ place: ElementPlace
    ) {
        append(place == .first ? #"{"account":"# : #",{"account":"#)
        appendString(entry.account, source)
        append(#","created":"#, entry.created)
        if let expires = entry.expires { append(#","expires":"#, expires) }
        append(entry.isApproved ? #","approved":true}"# : "}")
    }

    private mutating func appendEntry(
        _ entry: SessionEntry, _ source: borrowing EventSource, _ place: ElementPlace
    ) {
        append(place == .first ? "{" : ",{")
        appendMembers(of: entry, source)
        append("}")
    }

    /// Appends the members of a session, without the enclosing braces.
    mutating func appendMembers(of entry: SessionEntry, _ source: borrowing EventSource) {
        append(#""session":"#)
        appendBase32(entry.session.ordinal)
        append(#","device":"#)
        appendString(entry.device, source)
        append(#","client":""#)
        append(entry.client.word)
        append(#"","since":"#, entry.since)
        append(#","lastHeard":"#, entry.lastHeard)
        append(#","address":"#)
        appendString(entry.address, source)
        append(#","connection":""#)
        append(entry.connection.word)
        append(entry.connection == .pushOnly ? #"","push":true"# : "\"")
    }

    /// Appends the end of a page, after its list.
    mutating func appendPageEnd(count: Int, cursor: UInt64?) {
        append(#","count":"#, count)
        if let cursor {
            append(#","cursor":"#)
            appendBase32(cursor)
        }
        append("}")
    }
}
