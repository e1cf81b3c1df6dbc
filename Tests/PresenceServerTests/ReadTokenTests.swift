import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `The token of a read` {
    @Test(
        arguments: [0, 7, ConnectionID.inProcessSlotMin - 1, .max] as [UInt32],
        [0, 1, .max] as [UInt32])
    func `names the connection that it is for`(slot: UInt32, generation: UInt32) {
        let connection = ConnectionID(slot: slot, generation: generation)
        #expect(ConnectionID(token: connection.token) == connection)
    }
}
