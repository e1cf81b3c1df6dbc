internal import PresenceCore

// Responses with lists. A page of 1,000 entries fits into a frame, but 500 states with long
// texts may not: so every list stops where the frame is full and returns how many entries fit.

extension [UInt8] {
    /// Appends an array, or returns the number of the elements that end before `bound` if not all
    /// do.
    @inline(__always)
    mutating func appendList<Item: ListElement>(
        _ elements: ArraySlice<Item>, _ effects: borrowing Effects, _ bound: Int
    ) -> Int? {
        let source = EventSource(effects)
        append("[")
        for index in elements.indices {
            if index > elements.startIndex { append(",") }
            elements[index].append(to: &self, source)
            if count > bound { return index - elements.startIndex }
        }
        append("]")
        return nil
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

/// An element of a list in a response.
protocol ListElement {
    /// Appends it as JSON.
    func append(to json: inout [UInt8], _ source: borrowing EventSource)
}

extension Event: ListElement {
    func append(to json: inout [UInt8], _ source: borrowing EventSource) {
        json.appendEvent(self, source, .first)
    }
}

extension SubscriptionEntry: ListElement {
    func append(to json: inout [UInt8], _ source: borrowing EventSource) {
        json.append(#"{"type":"#, Int(type.number))
        json.append(#","publisher":"#)
        json.appendString(publisher, source)
        json.append(#","created":"#, created)
        json.append(#","expires":"#, expires)
        json.append("}")
    }
}

extension SubscriberEntry: ListElement {
    func append(to json: inout [UInt8], _ source: borrowing EventSource) {
        json.append(#"{"account":"#)
        json.appendString(account, source)
        json.append(#","created":"#, created)
        if let expires { json.append(#","expires":"#, expires) }
        json.append(isApproved ? #","approved":true}"# : "}")
    }
}

extension SessionEntry: ListElement {
    func append(to json: inout [UInt8], _ source: borrowing EventSource) {
        json.append("{")
        appendMembers(to: &json, source)
        json.append("}")
    }

    /// Appends its members, without the enclosing braces.
    func appendMembers(to json: inout [UInt8], _ source: borrowing EventSource) {
        json.append(#""session":"#)
        json.appendBase32(session.ordinal)
        json.append(#","device":"#)
        json.appendString(device, source)
        json.append(#","client":""#)
        json.append(client.word)
        json.append(#"","since":"#, since)
        json.append(#","lastHeard":"#, lastHeard)
        json.append(#","address":"#)
        json.appendString(address, source)
        json.append(#","connection":""#)
        json.append(connection.word)
        json.append(connection == .pushOnly ? #"","push":true"# : "\"")
    }
}

extension ContactEntry: ListElement {
    func append(to json: inout [UInt8], _ source: borrowing EventSource) {
        json.appendContact(self, source)
    }
}
