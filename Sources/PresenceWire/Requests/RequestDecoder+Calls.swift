internal import CSimdJSON
internal import PresenceCore

// Calls of other parts of this process: the body and the arguments become one table of parameters,
// which is then read like that of a frame.

extension RequestDecoder {
    /// Reads a call. Its names and texts are then those of the last request.
    public mutating func decode(_ call: MethodCall) throws(MethodCallError) -> Method {
        guard call.byteCount <= limits.frameBytesMax else {
            throw .tooLong(bytesMax: limits.frameBytesMax)
        }
        begin(textBytes: (call.body?.count ?? 0) + call.argumentTextBytes)
        if let error = parse(call.body, members: call.bodyMembers) { throw .body(error) }
        for argument in call.arguments { add(argument) }
        do throws(Rejection) {
            try checkDuplicates()
            let method = try readParams(of: call.method)
            noteUnknown(among: call.bodyMembers)
            return method
        } catch {
            throw .rejected(call.arguments.reduce(error) { $1.asCallerReads($0) })
        }
    }

    private mutating func parse(_ body: [UInt8]?, members: [Rejection.Field]) -> BodyError? {
        let known = members.map { csj_word(Word($0.rawValue)) }
        let status: csj_status
        if let body {
            status = unsafe body.withUnsafeBufferPointer { body in
                // Also for an empty body: that is no JSON.
                var none: UInt8 = 0
                return unsafe withUnsafePointer(to: &none) { none in
                    unsafe parseParams(body.baseAddress ?? none, body.count, known)
                }
            }
        } else {
            status = unsafe parseParams(nil, 0, known)
        }
        switch status {
        case CSJ_OK: return nil
        case CSJ_INVALID_UTF8: return .invalidUTF8
        case CSJ_TOO_DEEP: return .tooDeep(levelsMax: Int(CSJ_PARAMS_DEPTH_MAX))
        case CSJ_ARRAY_AT_TOP, CSJ_NOT_AN_OBJECT: return .notAnObject
        case CSJ_TOO_MANY_MEMBERS: return .tooManyMembers(countMax: Members.countMax)
        case CSJ_DUPLICATE_KEY: return .duplicateMember
        case CSJ_NO_MEMORY: preconditionFailure("no memory for a body")
        default: return .invalidJSON(position: JSONScanner.errorOffset(in: body ?? []))
        }
    }

    private mutating func add(_ argument: MethodCall.Argument) {
        let key = csj_word(Word(argument.field.rawValue))
        let isAdded: Bool
        switch argument.value {
        case .integer(let value):
            isAdded = addInteger(key, value)
        case .text(let text):
            isAdded = addText(text, as: key)
        case .texts(let texts):
            isAdded = addArray(key) && texts.allSatisfy { addElement($0) }
        }
        precondition(isAdded, "an argument that the decoder has no memory for")
    }
}

extension MethodCall.Argument {
    /// The rejection of a call with this argument, with the caller's name for it. What is one
    /// element of a list here may be none for the caller.
    fileprivate func asCallerReads(_ rejection: Rejection) -> Rejection {
        guard let callerField, rejection.field == field else { return rejection }
        return Rejection(
            rejection.reason, field: callerField, min: rejection.min, max: rejection.max,
            limit: rejection.limit, count: rejection.count)
    }
}

extension csj_word {
    fileprivate init(_ word: Word) {
        self.init(low: word.low, high: word.high, count: word.count)
    }
}
