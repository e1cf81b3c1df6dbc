/// A few headers that were read, by their bytes. Streams of one kind of client begin alike: to read
/// the two headers of a login took a quarter of its instructions.
///
/// A header is only what its bytes say, so it is the same for all clients that send them.
struct KnownHeaders {
    private var headers: [(bytes: [UInt8], header: XMLHeader)] = []
    /// The one that is replaced next.
    private var oldest = 0

    private static let countMax = 4
    private static let bytesMax = 256

    /// The header that was read of these bytes; nil: it is not known.
    func header(of bytes: RawSpan) -> XMLHeader? {
        unsafe bytes.withUnsafeBytes { bytes in
            headers.first { known in unsafe bytes.elementsEqual(known.bytes) }?.header
        }
    }

    /// Keeps a header, unless it is long or is that of one account.
    mutating func add(_ header: XMLHeader, of bytes: RawSpan) {
        guard bytes.byteCount <= Self.bytesMax, header.element.attribute("from") == nil else {
            return
        }
        let entry = (bytes: unsafe bytes.withUnsafeBytes { unsafe Array($0) }, header: header)
        if headers.count < Self.countMax {
            headers.append(entry)
        } else {
            headers[oldest] = entry
            oldest = (oldest + 1) % Self.countMax
        }
    }
}
