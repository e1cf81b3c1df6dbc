internal import Glibc

/// Counts the frames of a write-ahead log that SQLite takes for good when it opens the database: up
/// to the last commit, as far as all checksums are right.
/// https://www.sqlite.org/walformat.html: 32 bytes, then frames of 24 bytes and a page. A checksum
/// is of everything before it but earlier checksums.
struct LogFrames {
    private let pageBytes: Int
    private let salts: UInt64
    private let isBigEndian: Bool
    private var sum: Checksum

    static let headerBytes = 32
    static let frameHeaderBytes = 24

    /// The good frames of the log in a file; none if there is no log, nil if it cannot be read.
    ///
    /// Reads the whole log: 1 ms per megabyte.
    static func count(in path: String) -> Int32? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT ? 0 : nil }
        defer { closeOnce(descriptor) }
        guard let header = read(descriptor, headerBytes, at: 0) else { return nil }
        guard var frames = LogFrames(header) else { return 0 }
        return frames.count(in: descriptor)
    }

    /// Nil: no valid log begins like this.
    private init?(_ header: [UInt8]) {
        guard header.count == Self.headerBytes else { return nil }
        let bytes = unsafe header.span.bytes
        let magic = bytes.word(0, isBigEndian: true)
        guard magic & ~1 == 0x377F_0682 else { return nil }
        isBigEndian = magic & 1 == 1
        pageBytes = Int(bytes.word(8, isBigEndian: true))
        guard (512...65_536).contains(pageBytes), pageBytes.nonzeroBitCount == 1 else { return nil }
        salts = bytes.pair(16)
        sum = Checksum()
        sum.add(bytes.extracting(0..<24), isBigEndian: isBigEndian)
        guard sum.value == bytes.pair(24) else { return nil }
    }

    private mutating func count(in descriptor: CInt) -> Int32? {
        let frameBytes = Self.frameHeaderBytes + pageBytes
        var good: Int32 = 0
        var number: Int32 = 0
        while number < .max {
            let place = Self.headerBytes + Int(number) * frameBytes
            guard let frame = Self.read(descriptor, frameBytes, at: place) else { return nil }
            guard frame.count == frameBytes, unsafe isNext(frame.span.bytes) else { break }
            number += 1
            // The size of the database after a commit; zero in other frames.
            if unsafe frame.span.bytes.word(4, isBigEndian: true) != 0 { good = number }
        }
        return good
    }

    /// Whether a frame continues the log.
    private mutating func isNext(_ frame: RawSpan) -> Bool {
        guard frame.pair(8) == salts, frame.word(0, isBigEndian: true) != 0 else { return false }
        sum.add(frame.extracting(0..<8), isBigEndian: isBigEndian)
        sum.add(frame.extracting(droppingFirst: Self.frameHeaderBytes), isBigEndian: isBigEndian)
        return sum.value == frame.pair(16)
    }

    /// What a file has at a place; fewer bytes at its end, nil if it cannot be read.
    private static func read(_ descriptor: CInt, _ count: Int, at place: Int) -> [UInt8]? {
        var result = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            result = unsafe pread(descriptor, buffer.baseAddress, count, place)
            filled = max(0, result)
        }
        return result < 0 ? nil : bytes
    }

    /// The checksum of the log.
    private struct Checksum {
        private var first: UInt32 = 0
        private var second: UInt32 = 0

        /// As it is written.
        var value: UInt64 { UInt64(first) << 32 | UInt64(second) }

        /// Adds a multiple of eight bytes.
        mutating func add(_ bytes: RawSpan, isBigEndian: Bool) {
            for place in stride(from: 0, to: bytes.byteCount, by: 8) {
                first &+= bytes.word(place, isBigEndian: isBigEndian) &+ second
                second &+= bytes.word(place + 4, isBigEndian: isBigEndian) &+ first
            }
        }
    }
}

extension RawSpan {
    fileprivate func word(_ place: Int, isBigEndian: Bool) -> UInt32 {
        let word = unsafe unsafeLoadUnaligned(fromByteOffset: place, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }

    /// Two words, the first one in the upper half.
    fileprivate func pair(_ place: Int) -> UInt64 {
        UInt64(word(place, isBigEndian: true)) << 32 | UInt64(word(place + 4, isBigEndian: true))
    }
}
