import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `The purpose of a read` {
    @Test(arguments: [0, 1, 5, 1 << 32, (1 << 61) - 1] as [UInt64])
    func `is known by the token of a password`(task: UInt64) {
        let purpose = ReadPurpose.password(task: task)
        #expect(ReadPurpose(token: purpose.token) == purpose)
    }

    @Test(arguments: [0, 1, 5, 1 << 32, (1 << 61) - 1] as [UInt64])
    func `is known by the token of a card`(number: UInt64) {
        let purpose = ReadPurpose.card(number)
        #expect(ReadPurpose(token: purpose.token) == purpose)
        #expect(purpose.token != ReadPurpose.password(task: number).token)
    }

    @Test(arguments: [0, 1, 5, 1 << 32, (1 << 61) - 1] as [UInt64])
    func `is known by the token of what is undelivered`(number: UInt64) {
        let purpose = ReadPurpose.undelivered(number)
        #expect(ReadPurpose(token: purpose.token) == purpose)
        #expect(purpose.token != ReadPurpose.card(number).token)
        #expect(purpose.token != ReadPurpose.password(task: number).token)
    }

    @Test(
        arguments: [0, 7, ConnectionID.inProcessSlotMin - 1] as [UInt32], [0, 1, .max] as [UInt32])
    func `is known by the token of messages`(slot: UInt32, generation: UInt32) {
        let connection = ConnectionID(slot: slot, generation: generation)
        let purpose = ReadPurpose.messages(connection)
        #expect(ReadPurpose(token: purpose.token) == purpose)
    }
}
