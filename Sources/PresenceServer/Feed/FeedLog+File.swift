// The ring as bytes, for an orderly restart, after which cursors are still valid.
//
//     "PLFEED01"  epoch  floor  count  stamp  wall time  { seq  age  length  bytes }…  checksum
//
// Numbers have eight bytes, little-endian; ages are in milliseconds before the wall time. The stamp
// identifies the state of the database; with any other the feed is discarded.

import PresenceCore

/// The bytes of a stored feed are not those that were written.
struct FeedLogError: Error {}

extension FeedLog {
    private static let mark = Array("PLFEED01".utf8)

    /// The ring as bytes.
    func encoded(stamp: UInt64, at now: Moment) -> [UInt8] {
        var output = Self.mark
        output.reserveCapacity(bytes + 64)
        let header = [
            epoch, floor, UInt64(count), stamp, UInt64(bitPattern: now.wall.milliseconds),
        ]
        for number in header { output.append(number: number) }
        var place = passed
        for segment in segments {
            for entry in place..<segment.entries.count {
                let record = segment.entries[entry]
                let range = segment.range(of: entry)
                output.append(number: record.seq)
                output.append(
                    number: now.mono.milliseconds
                        - min(now.mono.milliseconds, record.time.milliseconds))
                output.append(number: UInt64(range.count))
                output.append(contentsOf: segment.bytes[range])
            }
            place = 0
        }
        output.append(number: Self.checksum(of: output.span))
        return output
    }

    /// The stored ring; nil if it belongs to another database, or is too old by now.
    /// - Throws: `FeedLogError` if the bytes are not those that were written.
    init?(
        _ kept: [UInt8], stamp: UInt64, bytesMax: Int, seconds: Int, at now: Moment
    ) throws(FeedLogError) {
        var input = Input(bytes: kept)
        guard kept.count >= 8, try input.bytes(8) == Self.mark[...] else { throw FeedLogError() }
        let epoch = try input.number()
        let floor = try input.number()
        let count = try input.number()
        let keptStamp = try input.number()
        let keptAt = Int64(bitPattern: try input.number())
        guard Self.checksum(of: kept.span.extracting(..<(kept.count - 8))) == (try input.last())
        else { throw FeedLogError() }
        self.init(after: floor, epoch: epoch, bytesMax: bytesMax, seconds: seconds)
        guard keptStamp == stamp else { return nil }
        // If the clock was set back, the time since then is not known.
        let (distance, isFar) = now.wall.milliseconds.subtractingReportingOverflow(keptAt)
        let absence = isFar ? .max : UInt64(max(0, distance))
        guard absence <= milliseconds else { return nil }
        for _ in 0..<count {
            let seq = try input.number()
            let age = try input.number().addingReportingOverflow(absence)
            let event = try input.bytes(try input.number())
            guard seq > head, event.count <= Int(Int32.max) else { throw FeedLogError() }
            let time = Mono(
                milliseconds: now.mono.milliseconds
                    - min(now.mono.milliseconds, age.overflow ? .max : age.partialValue))
            // Topics get new numbers with the engine, and no reader is in the middle of a snapshot.
            append(event, seq: seq, topic: TopicHandle(index: 0), at: time)
        }
        guard input.rest == 8 else { throw FeedLogError() }
        trim(at: now.mono)
    }

    /// FNV-1a, eight bytes at a time. It detects accidental damage, not tampering.
    private static func checksum(of bytes: Span<UInt8>) -> UInt64 {
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        var place = 0
        while place + 8 <= bytes.count {
            var word: UInt64 = 0
            for offset in 0..<8 { word |= UInt64(bytes[place + offset]) << UInt64(8 * offset) }
            sum = (sum ^ word) &* 0x0000_0100_0000_01b3
            sum ^= sum >> 29
            place += 8
        }
        while place < bytes.count {
            sum = (sum ^ UInt64(bytes[place])) &* 0x0000_0100_0000_01b3
            place += 1
        }
        return sum
    }
}

/// The unread input.
private struct Input {
    let bytes: [UInt8]
    private var place = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var rest: Int { bytes.count - place }

    mutating func bytes(_ count: UInt64) throws(FeedLogError) -> ArraySlice<UInt8> {
        guard count <= UInt64(rest) else { throw FeedLogError() }
        defer { place += Int(count) }
        return bytes[place..<place + Int(count)]
    }

    mutating func number() throws(FeedLogError) -> UInt64 {
        try bytes(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The number at the end.
    func last() throws(FeedLogError) -> UInt64 {
        guard rest >= 8 else { throw FeedLogError() }
        return bytes.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension [UInt8] {
    fileprivate mutating func append(number: UInt64) {
        for offset in 0..<8 { append(UInt8(truncatingIfNeeded: number >> (8 * offset))) }
    }
}
