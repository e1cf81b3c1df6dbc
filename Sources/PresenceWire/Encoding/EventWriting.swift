internal import PresenceCore

// One event as JSON: the whole state of the publisher, see docs/PROTOCOL.md, "events".

/// What an event's ranges refer to.
@safe
struct EventSource {
    let bytes: [UInt8]
    let devices: [DeviceEntry]
    let availabilities: [Availability]

    init(_ effects: borrowing Effects) {
        bytes = effects.bytes
        devices = effects.devices
        availabilities = effects.availabilities
    }

    /// The size of a text as a JSON string, including quotes.
    func stringBytes(_ range: ByteRange) -> Int {
        let start = Int(range.start)
        let text = bytes.span.extracting(start..<start + Int(range.count))
        return JSONWriter.escapedBytes(of: text) + 2
    }

    /// An upper bound for the size of the event.
    func bytesMax(_ event: Event) -> Int {
        // The keys take 150 bytes, eight integers 20 each, the id 15, the words 20.
        var sum = 400 + stringBytes(event.publisher)
        if let origin = event.origin { sum += 40 + stringBytes(origin.name) }
        if let ext = event.ext { sum += 10 + stringBytes(ext) }
        if let ext = event.status?.ext { sum += 10 + stringBytes(ext) }
        if let online = event.online {
            for index in online {
                sum += 60 + stringBytes(devices[index].name)
                if let availability = devices[index].availability {
                    sum += bytesMax(availabilities[Int(availability)])
                }
            }
        }
        return sum
    }

    /// An upper bound for the size of what a device shows.
    private func bytesMax(_ availability: Availability) -> Int {
        60 + (availability.text.map { JSONWriter.escapedBytes(of: $0.span) } ?? 0)
    }
}

extension JSONWriter {
    mutating func string(_ range: ByteRange, _ source: borrowing EventSource) {
        let start = Int(range.start)
        string(source.bytes.span.extracting(start..<start + Int(range.count)))
    }

    mutating func event(_ event: Event, _ source: borrowing EventSource) {
        literal("{\"type\":")
        integer(Int(event.type.number))
        literal(",\"publisher\":")
        string(event.publisher, source)
        literal(",\"value\":")
        integer(event.value)
        literal(",\"cause\":\"")
        literal(event.cause.word)
        literal("\",\"id\":")
        base32(event.seq)
        literal(",\"seq\":")
        unsigned(event.seq)
        literal(",\"time\":")
        time(event.time)
        if let origin = event.origin {
            literal(",\"client\":\"")
            literal(origin.client.word)
            literal("\",\"device\":")
            string(origin.name, source)
        }
        if let ext = event.ext {
            literal(",\"ext\":")
            string(ext, source)
        }
        if let online = event.online { devices(online, source) }
        if let status = event.status { self.status(status, source) }
        if let lastSeen = event.lastSeen {
            literal(",\"lastSeen\":")
            time(lastSeen)
        }
        byte(UInt8(ascii: "}"))
    }

    private mutating func devices(_ range: Range<Int>, _ source: borrowing EventSource) {
        literal(",\"online\":[")
        for index in range {
            let device = source.devices[index]
            if index > range.lowerBound { byte(UInt8(ascii: ",")) }
            literal("{\"client\":\"")
            literal(device.client.word)
            literal("\",\"device\":")
            string(device.name, source)
            switch device.reach {
            case .connection: break
            case .push: literal(",\"push\":true")
            }
            if let availability = device.availability {
                self.availability(source.availabilities[Int(availability)])
            }
            byte(UInt8(ascii: "}"))
        }
        byte(UInt8(ascii: "]"))
    }

    private mutating func availability(_ availability: Availability) {
        if availability.show != .available {
            literal(",\"show\":\"")
            literal(availability.show.word)
            literal("\"")
        }
        if let text = availability.text {
            literal(",\"text\":")
            string(text.span)
        }
        if availability.priority != 0 {
            literal(",\"priority\":")
            integer(Int(availability.priority))
        }
    }

    private mutating func status(_ status: StatusEntry, _ source: borrowing EventSource) {
        literal(",\"status\":{\"value\":")
        integer(status.value)
        if let ext = status.ext {
            literal(",\"ext\":")
            string(ext, source)
        }
        literal(",\"expires\":")
        time(status.expires)
        byte(UInt8(ascii: "}"))
    }
}
