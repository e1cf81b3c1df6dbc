// Bytes of a frame → a typed request, or the error to report.
//
// simdjson parses the whole body, so that a body is either valid JSON throughout or rejected. The
// shim lists the members of the request object and of `params`; the checks here use that list.
// The decoder owns the memory of the names and texts of the last request, and reuses it for the
// next one.
//
// Order of checks: JSON, request object (`jsonrpc`, `id`, `method`, duplicates), method, `params`.
// The first error is reported, with the `id` of the request if that could be decoded. For a
// JSON-RPC notification only errors of the request object are reported, with `null`.

internal import CSimdJSON
public import PresenceCore

/// Reads requests, one after the other.
///
/// Allocates nothing for a request within the limits, except for an `id` that is a string.
@safe
public struct RequestDecoder: ~Copyable {
    /// The limits that requests must meet.
    public private(set) var limits: Limits
    /// The names that the lists of the last request refer to.
    public internal(set) var names: [ByteRange] = []
    /// What the last request has ignored members for.
    public private(set) var warnings: [ParameterWarning] = []

    // SAFETY: made in `init`, destroyed in `deinit`, never given away.
    private let parser: OpaquePointer
    // SAFETY: its pointers are valid until `parser` reads the next body, which replaces it.
    private var document = unsafe csj_document()
    /// Names and texts of the last request, unescaped.
    private(set) var text: [UInt8]
    /// Bytes of `text` that the last request may use.
    private var textCount = 0
    var nameSet = NameSet()
    let vocabularies = Vocabularies()

    /// A decoder with memory for the frames that the limits allow.
    public init(limits: Limits = Limits()) {
        let bodyBytesMax = max(64, limits.frameBytesMax, limits.frameBytesBeforeLoginMax)
        guard let parser = unsafe csj_parser_create(bodyBytesMax) else {
            preconditionFailure("no memory for a JSON parser")
        }
        unsafe self.parser = parser
        self.limits = limits
        text = [UInt8](repeating: 0, count: bodyBytesMax)
    }

    /// Applies other limits from now on. Those of a frame must not be larger than the memory that
    /// was allocated for it.
    public mutating func apply(_ new: Limits) {
        precondition(
            max(new.frameBytesMax, new.frameBytesBeforeLoginMax) <= text.count,
            "frames that the decoder has no memory for")
        limits = new
    }

    deinit {
        unsafe csj_parser_destroy(parser)
    }

    /// Reads a name or text of the last request.
    public func withBytes<Value>(_ range: ByteRange, _ read: (Span<UInt8>) -> Value) -> Value {
        let start = Int(range.start)
        return read(text.span.extracting(start..<start + Int(range.count)))
    }

    /// A copy of a name or text of the last request.
    public func bytes(_ range: ByteRange) -> [UInt8] {
        let start = Int(range.start)
        return [UInt8](text[start..<start + Int(range.count)])
    }

    /// The names of a list of the last request.
    public func names(_ list: NameList) -> ArraySlice<ByteRange> {
        names[Int(list.start)..<Int(list.start) + Int(list.count)]
    }

    /// How many names the last request has: accounts, groups.
    public var nameCount: Int { names.count }

    /// Copies the names and texts of the last request. They are not longer than its body.
    public mutating func appendTexts(to texts: inout RequestTexts) -> RequestTexts.Mark {
        texts.append(text[..<textCount], names: names)
    }

    /// Reads the body of a frame.
    public mutating func decode(_ body: RawSpan) -> Result<Request, RequestError> {
        begin(textBytes: body.byteCount)
        if let reason = parse(body) {
            let error = EnvelopeError(
                reason, position: reason == .invalidJSON ? Self.errorOffset(in: body) : nil)
            return .failure(RequestError(id: .unknown, cause: .envelope(error)))
        }
        let members = unsafe Members(document.envelope)
        let id = readID(members)
        do throws(EnvelopeError) {
            let method = try readMethod(members, id: id)
            return decode(method, params: members[Envelope.params], id: id ?? .none)
        } catch {
            // An invalid request is answered with `null`, even if it looks like a notification.
            let isRequest = error.reason == .unknownMethod
            let answered = id == .some(.none) && !isRequest ? .unknown : id ?? .unknown
            return .failure(RequestError(id: answered, cause: .envelope(error)))
        }
    }

    // MARK: Calls

    /// Reads a body, or none, as `params`.
    mutating func parseParams(
        _ body: UnsafePointer<UInt8>?, _ count: Int, _ known: [csj_word]
    ) -> csj_status {
        unsafe known.withUnsafeBufferPointer { known in
            unsafe text.withUnsafeMutableBufferPointer { text in
                unsafe csj_parse_params(
                    parser, body, count, known.baseAddress, known.count, text.baseAddress,
                    text.count, &document)
            }
        }
    }

    /// Adds an integer to `params`; nil: one that exceeds 64 bits.
    mutating func addInteger(_ key: csj_word, _ value: Int64?) -> Bool {
        let kind = value == nil ? CSJ_HUGE_INTEGER : CSJ_INTEGER
        return unsafe csj_add_integer(parser, key, kind, value ?? 0, &document)
    }

    /// Adds an empty array to `params`.
    mutating func addArray(_ key: csj_word) -> Bool {
        unsafe csj_add_array(parser, key, &document)
    }

    /// Adds a text to `params`.
    mutating func addText(_ value: String, as key: csj_word) -> Bool {
        var value = value
        return value.withUTF8 { bytes in
            unsafe text.withUnsafeMutableBufferPointer { text in
                unsafe csj_add_text(
                    parser, key, bytes.baseAddress, bytes.count, text.baseAddress, text.count,
                    &document)
            }
        }
    }

    /// Adds a text to the array that was added last.
    mutating func addElement(_ value: String) -> Bool {
        var value = value
        return value.withUTF8 { bytes in
            unsafe text.withUnsafeMutableBufferPointer { text in
                unsafe csj_add_element(
                    parser, bytes.baseAddress, bytes.count, text.baseAddress, text.count,
                    &document)
            }
        }
    }

    /// The members of `params`; none if it is missing.
    var params: Members { unsafe Members(document.params) }

    /// The elements of the arrays in `params`.
    var elements: Elements { unsafe Elements(document) }

    private mutating func decode(
        _ method: MethodName, params: csj_member?, id: RequestID
    ) -> Result<Request, RequestError> {
        do throws(Rejection) {
            try checkParams(params)
            let call = try readParams(of: method)
            if !self.params.areAllFound { noteUnknown(in: method) }
            return .success(Request(id: id, method: call, warnings: warnings))
        } catch {
            return .failure(RequestError(id: id, cause: .rejected(error), method: method))
        }
    }

    /// The unknown members for which a similar name is looked for, as many as of a call.
    private static let unknownMax = 16

    /// Looks for similar names of members that no parameter was read from.
    private mutating func noteUnknown(in method: MethodName) {
        let params = params
        let known = method.parameters
        var attempts = 0
        for index in 0..<params.count where params.foundBits & 1 << UInt64(index) == 0 {
            // A request of unknown members costs hardly more than one without them.
            attempts += 1
            guard attempts <= Self.unknownMax else { return }
            warnings.note(params[index].key, among: known)
        }
    }

    /// Looks for similar names of members that are not those of a call.
    mutating func noteUnknown(among known: [Rejection.Field]) {
        guard let keys = unsafe document.unknown else { return }
        let count = unsafe Int(document.unknown_count)
        for index in 0..<count {
            let key = unsafe keys[index]
            warnings.note(Word(low: key.low, high: key.high, count: key.count), among: known)
        }
    }

    /// Forgets the last request; there is room for `textBytes` bytes of texts.
    mutating func begin(textBytes: Int) {
        names.removeAll(keepingCapacity: true)
        if !warnings.isEmpty { warnings = [] }
        textCount = textBytes
        if text.count < textBytes { text = [UInt8](repeating: 0, count: textBytes) }
    }

    private static func errorOffset(in body: RawSpan) -> Int? {
        JSONScanner.errorOffset(in: unsafe body.withUnsafeBytes { unsafe Array($0) })
    }

    private mutating func parse(_ body: RawSpan) -> EnvelopeError.Reason? {
        let status = unsafe body.withUnsafeBytes { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe text.withUnsafeMutableBufferPointer { text in
                unsafe csj_parse(
                    parser, start, bytes.count, text.baseAddress, text.count, &document)
            }
        }
        switch status {
        case CSJ_OK: return nil
        case CSJ_INVALID_UTF8: return .invalidUTF8
        case CSJ_TOO_DEEP: return .tooDeep
        case CSJ_ARRAY_AT_TOP: return .batchNotSupported
        case CSJ_NOT_AN_OBJECT: return .invalidRequest
        case CSJ_NO_MEMORY: preconditionFailure("no memory for a body")
        default: return .invalidJSON
        }
    }
}
