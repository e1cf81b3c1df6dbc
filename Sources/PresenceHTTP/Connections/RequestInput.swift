import NIOCore

/// What a client has sent, up to the requests in it.
struct RequestInput {
    private var reader: RequestReader
    private(set) var bytes = ByteBuffer()
    /// Whether the client will send no more.
    var hasEnded = false

    /// Far more than the kernel keeps for it; NIO reads all of that when the client has ended.
    static let bytesMax = 1 << 18

    /// More than a request has, unless it is meant to cost time.
    static let linesPerRequest = 64

    init(_ limits: RequestLimits) {
        reader = RequestReader(limits)
    }

    /// Whether everything has been read.
    var isEmpty: Bool { bytes.readableBytes == 0 }

    /// Whether no part of a request has arrived.
    var isBetweenRequests: Bool { isEmpty && reader.isBetweenRequests }

    /// Adds what has arrived. Returns whether there was room for it.
    mutating func append(_ part: consuming ByteBuffer) -> Bool {
        guard bytes.readableBytes + part.readableBytes <= Self.bytesMax else { return false }
        guard !isEmpty else {
            bytes = part
            return true
        }
        // What has been read is given up: else all would be kept of a client whose every write ends
        // within a request. O(1) for each byte.
        if bytes.readerIndex > bytes.readableBytes { bytes.discardReadBytes() }
        bytes.writeBuffer(&part)
        return true
    }

    /// Requests that may be begun now.
    private(set) var requestsLeft = 0
    /// Lines (of fields and between chunks) that may be read now.
    var linesLeft: Int { reader.linesLeft }

    /// Grants this number of requests, and the number of lines that they need unless their client
    /// means to cost time.
    mutating func grant(requests: Int) {
        requestsLeft = requests
        reader.linesLeft = requests * Self.linesPerRequest
    }

    /// One of them begins.
    mutating func beginRequest() { requestsLeft = max(0, requestsLeft - 1) }

    /// Takes the next event; nil: more has to arrive first, or no lines are left.
    mutating func next() throws(HTTPError) -> RequestReader.Event? {
        let event = try reader.next(in: &bytes)
        if event == nil, isEmpty { discard() }
        return event
    }

    /// Frees what has not been read.
    mutating func discard() { bytes = ByteBuffer() }
}
