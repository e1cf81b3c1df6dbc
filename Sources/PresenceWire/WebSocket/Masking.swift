internal import CSimdJSON

extension [UInt8] {
    /// Appends a payload without its mask (RFC 6455, 5.3), eight bytes at a time.
    mutating func append(_ payload: RawSpan, maskedWith mask: UInt32) {
        let start = count
        unsafe payload.withUnsafeBytes { unsafe append(contentsOf: $0) }
        let end = count
        let wide = UInt64(mask) << 32 | UInt64(mask)
        unsafe withUnsafeMutableBytes { bytes in
            var place = start
            while place + 8 <= end {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                unsafe bytes.storeBytes(of: word ^ wide, toByteOffset: place, as: UInt64.self)
                place += 8
            }
            for place in place..<end {
                let shift = UInt32((place - start) % 4 * 8)
                unsafe bytes[place] ^= UInt8(truncatingIfNeeded: mask.littleEndian >> shift)
            }
        }
    }

    /// Whether the bytes are valid UTF-8.
    var isUTF8: Bool {
        unsafe withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return true }
            return unsafe csj_is_utf8(start, bytes.count)
        }
    }
}
