public import PresenceCore

/// A request of another part of this process: a method, and its parameters.
///
/// Parameters are arguments, or members of a body that a client has written. They meet the same
/// limits as those of a frame.
public struct MethodCall: Sendable {
    /// The method.
    public var method: MethodName
    /// Parameters that are given one by one.
    public var arguments: [Argument] = []
    /// A JSON object with further parameters; nil: none.
    public var body: [UInt8]?
    /// The members of the body that are parameters. Others are ignored.
    public var bodyMembers: [Rejection.Field] = []

    /// A call without parameters.
    public init(_ method: MethodName) {
        self.method = method
    }

    /// A parameter.
    public struct Argument: Sendable {
        /// Which one.
        public var field: Rejection.Field
        /// Its value.
        public var value: Value
        /// What the caller calls it; nil: the same.
        public var callerField: Rejection.Field?

        /// A parameter with this value.
        public init(
            _ field: Rejection.Field, _ value: Value, for callerField: Rejection.Field? = nil
        ) {
            self.field = field
            self.value = value
            self.callerField = callerField
        }
    }

    /// The value of a parameter.
    public enum Value: Sendable {
        case text(String)
        case texts([String])
        /// Nil: an integer that exceeds 64 bits.
        case integer(Int64?)
    }

    /// The bytes of its parameters, about as many as JSON has for them.
    var byteCount: Int {
        arguments.reduce(body?.count ?? 0) {
            $0 + $1.field.rawValue.utf8.count + $1.value.byteCount
        }
    }

    /// The bytes of its texts.
    var argumentTextBytes: Int { arguments.reduce(0) { $0 + $1.value.textBytes } }
}

extension MethodCall.Value {
    /// Bytes of the punctuation of a member or an element.
    private static var punctuationBytes: Int { 3 }

    fileprivate var byteCount: Int {
        switch self {
        case .text, .integer: textBytes + 2 * Self.punctuationBytes
        case .texts(let texts): textBytes + (texts.count + 1) * Self.punctuationBytes
        }
    }

    fileprivate var textBytes: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .texts(let texts): texts.reduce(0) { $0 + $1.utf8.count }
        case .integer: 0
        }
    }
}

/// What the caller is given of a result.
public enum ResultForm: Sendable {
    /// All of it.
    case whole
    /// Of a list with one state: that state.
    case onlyState
}

/// Why a call is not made.
public enum MethodCallError: Error, Hashable, Sendable {
    /// The body is no object of parameters.
    case body(BodyError)
    /// The parameters have more bytes than a frame.
    case tooLong(bytesMax: Int)
    /// A parameter is invalid.
    case rejected(Rejection)
}

/// What is wrong with a body.
public enum BodyError: Error, Hashable {
    case invalidUTF8
    /// Not a single JSON value: it cannot be one at this byte, from 0.
    case invalidJSON(position: Int?)
    case tooDeep(levelsMax: Int)
    /// A value, but not an object.
    case notAnObject
    case tooManyMembers(countMax: Int)
    /// An object in it has two members of the same name.
    case duplicateMember
}
