import Testing

/// Copies of what an account writes, for its other XMPP clients (XEP-0280).
@Suite struct `Message carbons` {
    private static func turn(_ word: String, _ client: StreamClient) throws {
        try client.send(
            "<iq type='set' id='\(word)'><\(word) xmlns='urn:xmpp:carbons:2'/></iq>")
        try client.until("<iq type='result' id='\(word)'")
    }

    @Test func `are sent from the answer on, whatever loop a client is on`() throws {
        try withXMPPService(loops: 3) { service in
            let phone = try service.showXMPP("alice", "phone")
            let desk = try service.showXMPP("alice", "desk")
            for number in 0..<8 {
                try Self.turn("enable", desk)
                try phone.send(
                    "<message to='bob@localhost' type='chat'><body>on \(number)</body></message>")
                let said = try desk.until("<body>on \(number)</body>")
                #expect(said.contains("<sent xmlns='urn:xmpp:carbons:2'>"))
                try Self.turn("disable", desk)
                try phone.send(
                    "<message to='bob@localhost' type='chat'><body>off</body></message>")
                _ = try phone.drain()
                #expect(try !desk.drain().contains("<body>off</body>"))
            }
        }
    }
}
