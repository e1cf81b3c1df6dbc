internal import PresenceCore

// Responses with lists. A page of 1,000 entries fits into a frame, but 500 states with long
// texts may not: so every list stops where the frame is full and returns how many entries fit.

extension [UInt8] {
    /// Appends an array with an element for each index, or returns the number of those that end
    /// before `bound` if not all do.
    @inline(__always)
    mutating func appendList(
        _ range: Range<Int>, in effects: borrowing Effects, upTo bound: Int,
        _ append: (inout Self, Int, borrowing Effects, EventSource, ElementPlace) -> Void
    ) -> Int? {
        let source = EventSource(effects)
        self.append("[")
        for index in range {
            append(&self, index, effects, source, index == range.lowerBound ? .first : .following)
            if count > bound { return index - range.lowerBound }
        }
        self.append("]")
        return nil
    }

    mutating func appendStates(
        _ range: Range<Int>, in effects: borrowing Effects, upTo bound: Int
    ) -> Int? {
        appendList(range, in: effects, upTo: bound) { output, index, effects, source, place in
            output.appendEvent(effects.events[index], source, place)
        }
    }

    mutating func appendSubscriptions(
        _ range: Range<Int>, in effects: borrowing Effects, upTo bound: Int
    ) -> Int? {
        appendList(range, in: effects, upTo: bound) { output, index, effects, source, place in
            output.appendEntry(effects.subscriptions[index], source, place)
        }
    }

    mutating func appendSubscribers(
        _ range: Range<Int>, in effects: borrowing Effects, upTo bound: Int
    ) -> Int? {
        appendList(range, in: effects, upTo: bound) { output, index, effects, source, place in
            output.appendEntry(effects.subscribers[index], source, place)
        }
    }

    mutating func appendSessions(
        _ range: Range<Int>, in effects: borrowing Effects, upTo bound: Int
    ) -> Int? {
        appendList(range, in: effects, upTo: bound) { output, index, effects, source, place in
            output.appendEntry(effects.sessions[index], source, place)
        }
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
