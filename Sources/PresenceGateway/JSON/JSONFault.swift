/// What is wrong with bytes that were to be one JSON object.
public enum JSONFault: Error, Hashable, Sendable {
    /// Not UTF-8.
    case invalidUTF8
    /// Not one JSON value.
    case invalid
    /// It nests deeper than `JSONObject.depthMax` levels.
    case tooDeep
    /// A value, but no object.
    case noObject
    /// It has more than `JSONObject.membersMax` members.
    case tooManyMembers
}
