import EventLoop
import Testing

@Suite struct ReadBudgetTests {
    @Test func `once the bytes of a turn are read, each socket is read once more, and little`() {
        var budget = ReadBudget()
        #expect(budget.room(of: 1) == ReadBudget.readBytesMax)
        budget.spend(ReadBudget.bytesPerTurn)
        #expect(budget.room(of: 1) == ReadBudget.smallReadBytes)
        #expect(budget.room(of: 1) == 0)
        #expect(budget.room(of: 2) == ReadBudget.smallReadBytes)
        budget.beginTurn()
        #expect(budget.room(of: 1) == ReadBudget.readBytesMax)
    }

    @Test func `what is read in a turn is bounded, and nothing is lost`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let port = try loop.listenAnywhere()
        let client = try Client(port: port)
        let chunk = Array(repeating: UInt8(7), count: 256 << 10)
        var (sent, received, inTurn, most) = (0, 0, 0, 0)
        recorder.onReceived = { _, bytes in inTurn += bytes.count }
        recorder.run(until: {
            most = max(most, inTurn)
            received += inTurn
            inTurn = 0
            if sent < 8 << 20, recorder.accepted.count == 1 {
                sent += max(0, client.sendWhatFits(chunk))
                loop.wakeup.wake()
            }
            return sent >= 8 << 20 && received == sent
        })
        let bound =
            ReadBudget.bytesPerTurn + ReadBudget.readBytesMax + ReadBudget.smallReadBytes
        #expect(most <= bound)
        withExtendedLifetime(client) { loop.close() }
    }
}
