import NIOCore
import Testing

@testable import PresenceHTTP

@Suite struct `The input of a connection` {
    private var input = RequestInput(HTTPLimits().request)

    private mutating func append(_ text: String) -> Bool {
        input.append(ByteBuffer(string: text))
    }

    @Test mutating func `is between requests until a byte of one arrives, and after its end`()
        throws
    {
        #expect(input.isBetweenRequests)
        #expect(append("G"))
        #expect(!input.isBetweenRequests)
        let early = try input.next()
        if early != nil { Issue.record("an event") }
        #expect(append("ET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n"))
        guard case .head? = try input.next() else {
            Issue.record("no head")
            return
        }
        #expect(input.isEmpty && !input.isBetweenRequests)
        #expect(append("x"))
        guard case .body? = try input.next(), case .end? = try input.next() else {
            Issue.record("no body")
            return
        }
        #expect(input.isBetweenRequests)
    }

    @Test mutating func `has a limit, up to which it keeps what is sent ahead`() {
        let half = String(repeating: "x", count: RequestInput.bytesMax / 2)
        #expect(append(half))
        #expect(append(half))
        #expect(!append("x"))
        input.discard()
        #expect(append("x"))
    }
}
