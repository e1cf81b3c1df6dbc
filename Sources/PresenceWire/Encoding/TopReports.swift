public import PresenceCore

/// What `top` tells, besides counters: who has caused the most, and who takes the least.
public struct TopReport: Sendable {
    /// What the service's clock shows.
    public var time: Wall
    /// For how many milliseconds `counts` have been counted.
    public var milliseconds: Int
    /// What has happened in that time.
    public var counts: [StatsField]
    /// Since when `publishers` are counted.
    public var publishersSince: Wall
    /// The busiest publishers, the busiest first.
    public var publishers: [BusyPublisher]
    /// Those that have not taken what they were sent, the slowest first.
    public var readers: [SlowReader]
    /// How many of these there are in all.
    public var readerCount: Int
    /// Numbers of now.
    public var gauges: [StatsField]

    /// A report.
    public init(
        time: Wall, milliseconds: Int, counts: [StatsField], publishersSince: Wall,
        publishers: [BusyPublisher], readers: [SlowReader], readerCount: Int,
        gauges: [StatsField]
    ) {
        self.time = time
        self.milliseconds = milliseconds
        self.counts = counts
        self.publishersSince = publishersSince
        self.publishers = publishers
        self.readers = readers
        self.readerCount = readerCount
        self.gauges = gauges
    }
}

/// A connection that has not taken what it was sent; texts in `Effects.bytes`.
public struct SlowReader: Sendable {
    /// Whose session it is, and on which device; nil: an app server's.
    public var owner: (account: ByteRange, device: ByteRange)?
    /// Where it comes from.
    public var address: String
    /// Bytes that wait for it.
    public var bytesWaiting: Int
    /// Publishers whose newest states it has still to be sent.
    public var behind: Int
    /// Since when it has not taken everything.
    public var since: Wall

    /// A reader.
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
    /// Appends the response to `top`. Its lists are short: it always fits into a frame.
    public mutating func appendTopFrame(
        _ report: TopReport, to id: RequestID, in effects: borrowing Effects
    ) {
        guard id != .none else { return }
        let source = EventSource(effects)
        let start = beginResponse(to: id)
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
        endResponse(start)
    }

    /// Appends members, without the braces around them.
    mutating func appendFields(_ fields: [StatsField]) {
        for (place, field) in fields.enumerated() {
            append(place == 0 ? "\"" : ",\"")
            append(field.name)
            append("\":", field.value)
        }
    }
}
