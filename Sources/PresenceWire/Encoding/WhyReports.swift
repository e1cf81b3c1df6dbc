internal import PresenceCore

// The result of `why`: facts that the command turns into sentences.

extension [UInt8] {
    /// Appends the result of `why`.
    mutating func append(
        _ report: WhyReport, subscriber: [UInt8], publisher: [UInt8], in effects: borrowing Effects
    ) {
        let source = EventSource(effects)
        append(#"{"time":"#, report.time)
        append(#","type":"#, Int(report.type.number))
        append(#","subscriber":"#)
        appendParty(report.subscriber, named: subscriber, source)
        append(#","publisher":"#)
        appendParty(report.publisher, named: publisher, source)
        append(#","state":"#)
        appendEvent(effects.events[report.state], source, .first)
        if let subscription = report.subscription {
            append(#","subscription":{"created":"#, subscription.created)
            append(#","expires":"#, subscription.until)
            append("}")
        }
        switch report.relation {
        case .none: break
        case .pending: append(#","relationship":"asked""#)
        case .active: append(#","relationship":"accepted""#)
        }
        if report.visibility != .open {
            append(#","visibility":""#)
            append(report.visibility.word)
            append("\"")
        }
        append(#","pastSubscriptions":["#)
        appendList(report.ended) { list, subscription in
            list.append(#"{"created":"#, subscription.created)
            list.append(#","ended":"#, subscription.until)
            list.append(#","how":""#)
            list.append(subscription.end?.word ?? "")
            list.append("\"}")
        }
        append(#"],"events":["#)
        appendList(report.events) { list, event in list.append(event, source) }
        append("]")
        if let messages = report.messages {
            append(#","messages":["#)
            appendList(messages) { list, message in
                let writer: [UInt8]? =
                    switch message.writer {
                    case .subscriber: subscriber
                    case .publisher: publisher
                    case .service: nil
                    }
                list.append(message, from: writer, source)
            }
            append("]")
        }
        append(#","completeSince":{"events":"#, report.reach.events)
        append(#","subscriptions":"#, report.reach.subscriptions)
        append(#","connections":"#, report.reach.connections)
        append(#","delays":"#, report.reach.delays)
        if report.messages != nil { append(#","messages":"#, report.reach.messages) }
        append("}}")
    }

    /// Appends elements separated by commas.
    private mutating func appendList<Item>(
        _ elements: [Item], _ write: (inout [UInt8], Item) -> Void
    ) {
        for (place, element) in elements.enumerated() {
            if place > 0 { append(",") }
            write(&self, element)
        }
    }

    private mutating func appendParty(
        _ party: WhyParty, named name: [UInt8], _ source: borrowing EventSource
    ) {
        append(#"{"account":"#)
        appendString(name.span)
        append(#","known":"#)
        append(party.isKnown)
        append(#","sessions":["#)
        for (place, session) in party.sessions.enumerated() {
            append(place == 0 ? "{" : ",{")
            session.entry.appendMembers(to: &self, source)
            append(#","listing":"#)
            append(session.isListing)
            if let bytes = session.bytesWaiting { append(#","bytesWaiting":"#, bytes) }
            append(#","behind":"#, session.behind)
            append(session.isSeeing == false ? #","sees":false}"# : "}")
        }
        append(#"],"pastConnections":["#)
        for (place, connection) in party.ended.enumerated() {
            if place > 0 { append(",") }
            append(connection, source)
        }
        append("]}")
    }

    private mutating func append(_ connection: WhyConnection, _ source: borrowing EventSource) {
        append(#"{"session":"#)
        appendBase32(connection.session.ordinal)
        append(#","device":"#)
        appendString(connection.device, source)
        append(#","client":""#)
        append(connection.client.word)
        append(#"","since":"#, connection.since)
        append(#","lastHeard":"#, connection.lastHeard)
        append(#","ended":"#, connection.ended)
        append(#","how":""#)
        append(connection.end.word)
        append(#"","bytesUnsent":"#, connection.unsentBytes)
        append("}")
    }

    private mutating func append(_ event: WhyEvent, _ source: borrowing EventSource) {
        append(#"{"id":"#)
        appendBase32(event.seq)
        append(#","seq":"#)
        append(bytesMax: 20) { $0.unsigned(event.seq) }
        append(#","time":"#, event.time)
        append(#","cause":""#)
        append(event.cause.word)
        append(#"","value":"#, Int(event.value))
        append(#","receivers":"#, event.receivers)
        append(#","subscribed":""#)
        append(event.subscribed.word)
        append(#"","complete":"#)
        append(event.isComplete)
        append(#","connections":["#)
        for (place, fate) in event.fates.enumerated() {
            append(place == 0 ? #"{"session":"# : #",{"session":"#)
            appendBase32(fate.session.ordinal)
            append(#","device":"#)
            appendString(fate.device, source)
            append(#","fate":""#)
            append(fate.what.word)
            append("\"")
            if let time = fate.time { append(#","time":"#, time) }
            append("}")
        }
        append("]")
        if let login = event.nextLogin {
            append(#","nextLogin":{"session":"#)
            appendBase32(login.session.ordinal)
            append(#","device":"#)
            appendString(login.device, source)
            append(#","time":"#, login.time)
            append(#","sync":""#)
            append(login.list.word)
            append("\"}")
        }
        append("}")
    }

    private mutating func append(
        _ message: WhyMessage, from writer: [UInt8]?, _ source: borrowing EventSource
    ) {
        append(#"{"id":"#)
        appendBase32(message.id.number)
        if let writer {
            append(#","from":"#)
            appendString(writer.span)
        }
        append(#","time":"#, message.time)
        append(#","fate":""#)
        append(message.fate.word)
        append("\"")
        if let device = message.device {
            append(#","device":"#)
            appendString(device, source)
        }
        if let ended = message.ended { append(#","ended":"#, ended) }
        append(#","sent":"#, message.sentCount)
        if let reason = message.handedOver {
            append(#","undelivered":""#)
            append(reason.word)
            append("\"")
        }
        append("}")
    }
}
