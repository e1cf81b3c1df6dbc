internal import CSimdJSON
internal import PresenceCore

// One function for each kind of parameter. Each returns nil if the parameter is missing and
// rejects other kinds of values, including `null`: clients omit what they do not set.
extension RequestDecoder {
    func required<Value>(
        _ value: Value?, _ parameter: Parameter
    ) throws(Rejection) -> Value {
        guard let value else { throw Rejection(.missingField, field: parameter.field) }
        return value
    }

    func readFlag(_ parameter: Parameter) throws(Rejection) -> Bool? {
        switch params[parameter.key]?.kind {
        case nil: nil
        case CSJ_TRUE: true
        case CSJ_FALSE: false
        default: throw Rejection(.wrongType, field: parameter.field)
        }
    }

    /// A boolean, or an object with booleans for what else is sent; unknown members are ignored.
    func readMessageDelivery() throws(Rejection) -> Login.MessageDelivery {
        guard let member = params[Parameter.messages.key], member.kind == CSJ_OBJECT else {
            return try readFlag(.messages) == true ? .on : .off
        }
        var delivery = Login.MessageDelivery.on
        for index in Int(member.start)..<Int(member.start) + Int(member.count) {
            let element = elements[index]
            let key = text[Int(element.start)..<Int(element.start) + Int(element.count)]
            guard key.elementsEqual("sent".utf8) else { continue }
            switch element.kind {
            case CSJ_TRUE: delivery = .withCopies
            case CSJ_FALSE: break
            default: throw Rejection(.wrongType, field: .messages)
            }
        }
        return delivery
    }

    func readInteger(
        _ parameter: Parameter, min: Int, max: Int
    ) throws(Rejection) -> Int? {
        guard let member = params[parameter.key] else { return nil }
        switch member.kind {
        case CSJ_INTEGER where member.integer >= min && member.integer <= max:
            return Int(member.integer)
        case CSJ_INTEGER, CSJ_HUGE_INTEGER:
            throw Rejection(.outOfRange, field: parameter.field, min: min, max: max)
        default:
            throw Rejection(.wrongType, field: parameter.field)
        }
    }

    /// A string without its own limit; that of the frame is enough.
    func readText(_ parameter: Parameter) throws(Rejection) -> ByteRange? {
        guard let member = params[parameter.key] else { return nil }
        guard member.kind == CSJ_STRING else {
            throw Rejection(.wrongType, field: parameter.field)
        }
        return member.text
    }

    func readText(_ parameter: Parameter, bytesMax: Int) throws(Rejection) -> ByteRange? {
        guard let range = try readText(parameter) else { return nil }
        guard range.count <= bytesMax else {
            throw Rejection(
                .tooLong, field: parameter.field, limit: bytesMax, count: Int(range.count))
        }
        return range
    }

    func readName(_ parameter: Parameter, bytesMax: Int) throws(Rejection) -> ByteRange? {
        guard let range = try readText(parameter) else { return nil }
        try checkName(range, parameter, bytesMax: bytesMax)
        return range
    }

    func readWord<Meaning>(
        _ parameter: Parameter, _ vocabulary: Vocabulary<Meaning>
    ) throws(Rejection) -> Meaning? {
        guard let member = params[parameter.key] else { return nil }
        guard member.kind == CSJ_STRING else {
            throw Rejection(.wrongType, field: parameter.field)
        }
        guard let meaning = vocabulary[member.head] else {
            throw Rejection(.outOfRange, field: parameter.field)
        }
        return meaning
    }

    func readType() throws(Rejection) -> EventType? {
        let (min, max) = (limits.customTypeMin, limits.customTypeMax)
        guard let member = params[Parameter.type.key] else { return nil }
        switch member.kind {
        case CSJ_INTEGER where member.integer == EventType.presence.number:
            return .presence
        case CSJ_INTEGER, CSJ_HUGE_INTEGER:
            guard member.kind == CSJ_INTEGER, member.integer >= min, member.integer <= max,
                let number = UInt16(exactly: member.integer)
            else {
                throw Rejection(.outOfRange, field: .type, min: min, max: max)
            }
            return EventType(number: number)
        default:
            throw Rejection(.wrongType, field: .type)
        }
    }

    func readValue() throws(Rejection) -> Int32? {
        let (min, max) = (limits.customValueMin, limits.customValueMax)
        guard let member = params[Parameter.value.key] else { return nil }
        switch member.kind {
        case CSJ_INTEGER where member.integer >= 1 && member.integer < min:
            throw Rejection(.reservedValue, field: .value, min: min, max: max)
        case CSJ_INTEGER, CSJ_HUGE_INTEGER:
            guard member.kind == CSJ_INTEGER, member.integer >= min, member.integer <= max,
                let value = Int32(exactly: member.integer)
            else {
                throw Rejection(.outOfRange, field: .value, min: min, max: max)
            }
            return value
        default:
            throw Rejection(.wrongType, field: .value)
        }
    }

    func readCursor() throws(Rejection) -> UInt64? {
        guard let range = try readText(.cursor) else { return nil }
        guard let cursor = Base32.value(of: text, at: range) else {
            throw Rejection(.outOfRange, field: .cursor)
        }
        return cursor
    }
}
