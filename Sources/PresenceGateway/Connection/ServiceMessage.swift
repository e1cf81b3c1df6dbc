public import NIOCore

/// The service's response to a request.
public enum ServiceResponse: Hashable, Sendable {
    /// The `result`, unchanged.
    case result(ByteBuffer)
    /// The `error`, unchanged.
    case error(ByteBuffer)
}

/// A notification of the service.
public struct ServiceNotification: Hashable, Sendable {
    /// Its method: `events`, `feed` …
    public var method: String
    /// Its `params`, unchanged.
    public var params: ByteBuffer
}

/// The body of a frame from the service.
///
/// The service writes its envelopes in one form only, so they are recognised by their first bytes
/// and their content is not parsed.
enum ServiceMessage {
    case answer(id: Int?, ServiceResponse)
    case notification(ServiceNotification)

    /// Nil if the service does not write such a body.
    init?(_ body: ByteBuffer) {
        var rest = body
        guard rest.skip("{\"jsonrpc\":\"2.0\","), rest.dropLast(UInt8(ascii: "}")) else {
            return nil
        }
        if rest.skip("\"id\":") {
            var id: Int?
            if !rest.skip("null") {
                guard let number = rest.readDigits() else { return nil }
                id = number
            }
            if rest.skip(",\"result\":") {
                self = .answer(id: id, .result(rest))
            } else if rest.skip(",\"error\":") {
                self = .answer(id: id, .error(rest))
            } else {
                return nil
            }
            return
        }
        guard rest.skip("\"method\":\""), let method = rest.readWord(), rest.skip("\",\"params\":")
        else { return nil }
        self = .notification(ServiceNotification(method: method, params: rest))
    }
}

extension CloseNotice {
    init?(_ params: ByteBuffer) {
        guard let object = try? JSONObject(params),
            let code = object["code"].flatMap(JSONText.integer),
            let reason = object["reason"].flatMap(JSONText.string),
            let message = object["message"].flatMap(JSONText.string)
        else { return nil }
        self.init(
            code: code, reason: reason, message: message,
            retryAfterSeconds: object["retryAfter"].flatMap(JSONText.integer))
    }
}

extension ByteBuffer {
    /// Skips `word` if it comes next.
    fileprivate mutating func skip(_ word: StaticString) -> Bool {
        guard begins(with: word) else { return false }
        moveReaderIndex(forwardBy: word.utf8CodeUnitCount)
        return true
    }

    private func begins(with word: StaticString) -> Bool {
        let bytes = readableBytesUInt8Span
        guard bytes.count >= word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { word in
            for place in 0..<word.count where unsafe bytes[place] != word[place] { return false }
            return true
        }
    }

    fileprivate mutating func dropLast(_ byte: UInt8) -> Bool {
        guard readableBytes > 0, getInteger(at: writerIndex - 1) == byte else { return false }
        moveWriterIndex(to: writerIndex - 1)
        return true
    }

    fileprivate mutating func readDigits() -> Int? {
        var number = 0
        var count = 0
        while count < 18, let byte = getInteger(at: readerIndex, as: UInt8.self),
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        {
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
            moveReaderIndex(forwardBy: 1)
            count += 1
        }
        return count > 0 ? number : nil
    }

    fileprivate mutating func readWord() -> String? {
        readString(length: wordLength)
    }

    private var wordLength: Int {
        let bytes = readableBytesUInt8Span
        var count = 0
        while count < min(bytes.count, 32), bytes[count] != UInt8(ascii: "\"") { count += 1 }
        return count
    }
}
