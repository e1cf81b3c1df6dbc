import NIOCore
import PresenceGateway
import PresenceTokens

extension API {
    /// The response that says which service this is, and what a key may do.
    func service(_ key: ServerKey?) -> Response {
        var members = JSONMembers()
        members.append("version", version)
        if let key { members.append("key", key.name) }
        members.append("access", key?.isReadOnly == true ? "read" : "full")
        return .json(.buffer(members.object))
    }

    /// A result of `why`, with the sentences of its facts.
    func withStory(_ facts: [UInt8]) throws -> ByteBuffer {
        let lines = try story(facts)
        precondition(facts.last == UInt8(ascii: "}"), "a result that is no object")
        var text = ByteBuffer(bytes: facts.dropLast())
        text.writeStaticString(",\"story\":[")
        for (place, line) in lines.enumerated() {
            if place > 0 { text.writeStaticString(",") }
            text.writeJSON(line)
        }
        text.writeStaticString("]}")
        return text
    }
}
