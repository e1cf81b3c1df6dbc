internal import CSimdJSON
internal import PresenceCore

// One function for each kind of parameter. Each returns nil if the parameter is missing and
// rejects other kinds of values, including `null`: clients omit what they do not set.
extension RequestDecoder {
    func required<Value>(
        _ value: Value?, _ parameter: Parameter
    ) throws(Refusal) -> Value {
        guard let value else { throw Refusal(.missingField, field: parameter.field) }
        return value
    }

    func readFlag(_ parameter: Parameter) throws(Refusal) -> Bool? {
        switch params[parameter.key]?.kind {
        case nil: nil
        case CSJ_TRUE: true
        case CSJ_FALSE: false
        default: throw Refusal(.wrongType, field: parameter.field)
        }
    }

    func readInteger(
        _ parameter: Parameter, min: Int, max: Int
    ) throws(Refusal) -> Int? {
        guard let member = params[parameter.key] else { return nil }
        switch member.kind {
        case CSJ_INTEGER where member.integer >= min && member.integer <= max:
            return Int(member.integer)
        case CSJ_INTEGER, CSJ_HUGE_INTEGER:
            throw Refusal(.outOfRange, field: parameter.field, min: min, max: max)
        default:
            throw Refusal(.wrongType, field: parameter.field)
        }
    }

    /// A string without its own limit; that of the frame is enough.
    func readText(_ parameter: Parameter) throws(Refusal) -> ByteRange? {
        guard let member = params[parameter.key] else { return nil }
        guard member.kind == CSJ_STRING else {
            throw Refusal(.wrongType, field: parameter.field)
        }
        return member.text
    }

    func readText(_ parameter: Parameter, bytesMax: Int) throws(Refusal) -> ByteRange? {
        guard let range = try readText(parameter) else { return nil }
        guard range.count <= bytesMax else {
            throw Refusal(
                .tooLong, field: parameter.field, limit: bytesMax, count: Int(range.count))
        }
        return range
    }

    func readName(_ parameter: Parameter, bytesMax: Int) throws(Refusal) -> ByteRange? {
        guard let range = try readText(parameter) else { return nil }
        try checkName(range, parameter, bytesMax: bytesMax)
        return range
    }

    func readWord<Meaning>(
        _ parameter: Parameter, _ vocabulary: Vocabulary<Meaning>
    ) throws(Refusal) -> Meaning? {
        guard let member = params[parameter.key] else { return nil }
        guard member.kind == CSJ_STRING else {
            throw Refusal(.wrongType, field: parameter.field)
        }
        guard let meaning = vocabulary[member.head] else {
            throw Refusal(.outOfRange, field: parameter.field)
        }
        return meaning
    }

    func readType() throws(Refusal) -> EventType? {
        let (min, max) = (limits.customTypeMin, limits.customTypeMax)
        guard let member = params[Parameter.type.key] else { return nil }
        switch member.kind {
        case CSJ_INTEGER where member.integer == EventType.presence.number:
            return .presence
        case CSJ_INTEGER, CSJ_HUGE_INTEGER:
            guard member.kind == CSJ_INTEGER, member.integer >= min, member.integer <= max,
                let number = UInt16(exactly: member.integer)
            else {
                throw Refusal(.outOfRange, field: .type, min: min, max: max)
            }
            return EventType(number: number)
        default:
            throw Refusal(.wrongType, field: .type)
        }
    }

    func readValue() throws(Refusal) -> Int32? {
        let (min, max) = (limits.customValueMin, limits.customValueMax)
        guard let member = params[Parameter.value.key] else { return nil }
        switch member.kind {
        case CSJ_INTEGER where member.integer >= 1 && member.integer < min:
            throw Refusal(.reservedValue, field: .value, min: min, max: max)
        case CSJ_INTEGER, CSJ_HUGE_INTEGER:
            guard member.kind == CSJ_INTEGER, member.integer >= min, member.integer <= max,
                let value = Int32(exactly: member.integer)
            else {
                throw Refusal(.outOfRange, field: .value, min: min, max: max)
            }
            return value
        default:
            throw Refusal(.wrongType, field: .value)
        }
    }

    func readCursor() throws(Refusal) -> UInt64? {
        guard let range = try readText(.cursor) else { return nil }
        guard let cursor = Base32.value(of: text, at: range) else {
            throw Refusal(.outOfRange, field: .cursor)
        }
        return cursor
    }
}
