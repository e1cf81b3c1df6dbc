import Foundation

/// A JSON value, for programs in which speed does not matter.
public enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// Reads one value.
    public init(parsing text: [UInt8]) throws(ClientError) {
        do {
            let value = try JSONSerialization.jsonObject(
                with: Data(text), options: [.fragmentsAllowed])
            self = JSON(foundation: value)
        } catch {
            throw .badAnswer("it is not JSON: \(error)")
        }
    }

    private init(foundation value: Any) {
        switch value {
        case let string as String: self = .string(string)
        case let array as [Any]: self = .array(array.map { JSON(foundation: $0) })
        case let object as [String: Any]:
            self = .object(object.mapValues { JSON(foundation: $0) })
        case let number as NSNumber: self = JSON(number)
        default: self = .null
        }
    }

    private init(_ number: NSNumber) {
        // Only booleans have C's type `char`.
        if unsafe number.objCType.pointee == CChar(UInt8(ascii: "c")) {
            self = .bool(number.boolValue)
        } else if let integer = Int64(exactly: number) {
            self = .integer(integer)
        } else {
            self = .number(number.doubleValue)
        }
    }

    /// The value as text, with the members of objects in alphabetical order.
    public var text: String {
        switch self {
        case .null: return "null"
        case .bool(let bool): return bool ? "true" : "false"
        case .integer(let integer): return String(integer)
        case .number(let number): return String(number)
        case .string(let string): return JSON.quote(string)
        case .array(let array): return "[\(array.map(\.text).joined(separator: ","))]"
        case .object(let object):
            let members = object.sorted { $0.key < $1.key }
                .map { "\(JSON.quote($0.key)):\($0.value.text)" }
            return "{\(members.joined(separator: ","))}"
        }
    }

    private static func quote(_ string: String) -> String {
        var quoted = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            // The short forms: a text of many lines must fit into a frame.
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// The member with this name; nil if there is none, or this is not an object.
    public subscript(name: String) -> JSON? {
        if case .object(let object) = self { object[name] } else { nil }
    }

    /// The string, if it is one.
    public var string: String? { if case .string(let string) = self { string } else { nil } }

    /// The integer, if it is one.
    public var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }

    /// The boolean, if it is one.
    public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }

    /// The elements, if it is an array.
    public var array: [JSON]? { if case .array(let array) = self { array } else { nil } }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    /// An object; of members with the same name the last one is kept.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
