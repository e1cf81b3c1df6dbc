import NIOCore
import Testing

@testable import PresenceHTTP

/// The feed's notifications as server-sent events.
@Suite struct `A server-sent event` {
    private func event(_ params: String) -> String? {
        ServerSentEvent.event(ByteBuffer(string: params)).map { String(buffer: $0) }
    }

    @Test func `has the cursor as its id`() {
        let params = #"{"events":[{"ext":"],\"cursor\":\"X\"}"}],"cursor":"00C"}"#
        #expect(event(params) == "event: change\nid: 00C\ndata: \(params)\n\n")
    }

    @Test func `has no id during a snapshot`() {
        let params = #"{"events":[{},{}],"snapshot":true}"#
        #expect(event(params) == "event: state\ndata: \(params)\n\n")
    }

    @Test func `clears the id at a reset`() {
        #expect(event(#"{"reset":true}"#) == "event: reset\nid: \ndata: {}\n\n")
        let first = ServerSentEvent.first(ByteBuffer(string: #"{"reset":true}"#))
        #expect(first.map { String(buffer: $0) } == event(#"{"reset":true}"#))
        #expect(
            ServerSentEvent.first(ByteBuffer(string: #"{"reset":false,"cursor":"0"}"#)) == nil)
    }

    @Test func `says that the snapshot is complete`() {
        let params = #"{"synced":true,"cursor":"00D"}"#
        #expect(event(params) == "event: synced\nid: 00D\ndata: \(params)\n\n")
    }

    @Test(arguments: ["{}", "[]", #"{"reset":false}"#, #"{"events":[]}"#])
    func `is not made from an unknown message`(params: String) {
        #expect(event(params) == nil)
    }
}
