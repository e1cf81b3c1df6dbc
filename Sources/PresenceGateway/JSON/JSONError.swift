/// Why bytes are not a valid JSON object.
public enum JSONError: Error, Hashable, Sendable {
    /// Not UTF-8.
    case invalidUTF8
    /// Not a single JSON value.
    case invalid
    /// Nested deeper than `JSONObject.depthMax` levels.
    case tooDeep
    /// A value, but not an object.
    case noObject
    /// More than `JSONObject.membersMax` members.
    case tooManyMembers
}
