public import PresenceCore

/// What `top` reports besides counters: who and what keeps the service busy.
public struct TopReport: Sendable {
    /// The time of the service's clock.
    public var time: Wall
    /// The number of milliseconds that `counts` cover.
    public var milliseconds: Int
    /// What happened in that time.
    public var counts: [StatsField]
    /// The start of the count for `publishers`.
    public var publishersSince: Wall
    /// The busiest publishers, the busiest first.
    public var publishers: [BusyPublisher]
    /// The accounts of which most messages wait, and those for which most wait.
    public var senders: [WaitingAmount], boxes: [WaitingAmount]
    /// The slow clients, the slowest first.
    public var readers: [SlowReader]
    /// The number of all slow clients.
    public var readerCount: Int
    /// Current values.
    public var gauges: [StatsField]

    /// A report.
    public init(
        time: Wall, milliseconds: Int, counts: [StatsField], publishersSince: Wall,
        publishers: [BusyPublisher], senders: [WaitingAmount], boxes: [WaitingAmount],
        readers: [SlowReader], readerCount: Int, gauges: [StatsField]
    ) {
        self.time = time
        self.milliseconds = milliseconds
        self.counts = counts
        self.publishersSince = publishersSince
        self.publishers = publishers
        self.senders = senders
        self.boxes = boxes
        self.readers = readers
        self.readerCount = readerCount
        self.gauges = gauges
    }
}

/// The connection of a slow client; texts in `Effects.bytes`.
public struct SlowReader: Sendable {
    /// The account and device of the session; nil for an app server.
    public var owner: (account: ByteRange, device: ByteRange)?
    /// The client's network address.
    public var address: String
    /// Bytes in its outbox.
    public var bytesWaiting: Int
    /// Publishers whose newest states are still to be sent to it.
    public var behind: Int
    /// Since when it is behind.
    public var since: Wall

    /// A slow client.
    public init(
        owner: (account: ByteRange, device: ByteRange)?, address: String, bytesWaiting: Int,
        behind: Int, since: Wall
    ) {
        self.owner = owner
        self.address = address
        self.bytesWaiting = bytesWaiting
        self.behind = behind
        self.since = since
    }
}

extension [UInt8] {
    /// Appends the result of `top`.
    mutating func append(_ report: TopReport, in effects: borrowing Effects) {
        let source = EventSource(effects)
        append(#"{"time":"#, report.time)
        append(#","milliseconds":"#, report.milliseconds)
        append(#","counts":{"#)
        appendFields(report.counts)
        append(#"},"publishersSince":"#, report.publishersSince)
        append(#","publishers":["#)
        for (place, publisher) in report.publishers.enumerated() {
            append(place == 0 ? #"{"account":"# : #",{"account":"#)
            appendString(publisher.account, source)
            append(#","events":"#, publisher.events)
            append(#","deliveries":"#, publisher.deliveries)
            append("}")
        }
        append(#"],"senders":["#)
        append(report.senders, source)
        append(#"],"boxes":["#)
        append(report.boxes, source)
        append(#"],"readers":["#)
        for (place, reader) in report.readers.enumerated() {
            append(place == 0 ? "{" : ",{")
            if let owner = reader.owner {
                append(#""account":"#)
                appendString(owner.account, source)
                append(#","device":"#)
                appendString(owner.device, source)
                append(",")
            }
            append(#""address":"#)
            appendString(Array(reader.address.utf8).span)
            append(#","bytesWaiting":"#, reader.bytesWaiting)
            append(#","behind":"#, reader.behind)
            append(#","since":"#, reader.since)
            append("}")
        }
        append(#"],"readerCount":"#, report.readerCount)
        append(#","gauges":{"#)
        appendFields(report.gauges)
        append("}}")
    }

    private mutating func append(
        _ amounts: [WaitingAmount], _ source: borrowing EventSource
    ) {
        for (place, amount) in amounts.enumerated() {
            append(place == 0 ? #"{"account":"# : #",{"account":"#)
            appendString(amount.account, source)
            append(#","messages":"#, amount.messages)
            append(#","bytes":"#, amount.bytes)
            append("}")
        }
    }

    /// Appends members, without the braces around them.
    mutating func appendFields(_ fields: [StatsField]) {
        for (place, field) in fields.enumerated() {
            append(place == 0 ? "\"" : ",\"")
            append(contentsOf: field.name.utf8)
            append("\":", field.value)
        }
    }
}
