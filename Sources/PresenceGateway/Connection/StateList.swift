import NIOCore

/// Lists of states that arrived in several frames.
enum StateList {
    /// Appends the states of `events` notifications to those at the end of `result`; nil if one of
    /// them is not a list of states.
    static func join(_ result: ByteBuffer, _ parts: [ByteBuffer]) -> ByteBuffer? {
        guard !parts.isEmpty else { return result }
        let begin = "{\"events\":["
        let end = "],\"sync\":true}"
        var whole = result
        guard whole.readableBytes > 3,
            whole.getString(at: whole.writerIndex - 2, length: 2) == "]}"
        else { return nil }
        whole.moveWriterIndex(to: whole.writerIndex - 2)
        for part in parts {
            let inner = part.readableBytes - begin.utf8.count - end.utf8.count
            guard inner > 0,
                part.getString(at: part.readerIndex, length: begin.utf8.count) == begin,
                part.getString(at: part.writerIndex - end.utf8.count, length: end.utf8.count)
                    == end,
                let states = part.getSlice(at: part.readerIndex + begin.utf8.count, length: inner)
            else { return nil }
            whole.writeStaticString(",")
            whole.writeImmutableBuffer(states)
        }
        whole.writeStaticString("]}")
        return whole
    }
}
