import PresenceCore

@testable import PresenceServer

// A device that takes leave of one subscriber (RFC 6121, section 4.6.3): what must hold when
// nothing else is on its way.

extension Simulation {
    /// A subscriber is told that a device is gone that takes leave of it alone, and that it is
    /// there when it says so to all, also if it says what it said to all before.
    func checkFarewell(_ auditor: SimulatedCaller) {
        let clients = xmppClients.filter { $0.isShown && !$0.isEnding }
        guard disk.canary == .none, let sender = clients.randomElement(using: &random),
            let receiver = clients.randomElement(using: &random), sender !== receiver,
            let stream = sender.stream, let receiving = receiver.stream, let device = sender.shown,
            sees(receiver.account, sender.account, auditor)
        else { return }
        let address = SimulatedAddress(
            account: receiver.account, device: chance(2) ? receiver.device : nil)
        let farewell = someFarewell()
        service.isSteady = true
        defer { service.isSteady = false }
        var (start, rejections) = (now, sender.rejectionCount)
        /// Whether nothing but a pace can have kept a presence from its receiver.
        func isDue() -> Bool {
            let sentCount = ledger.sentCount(to: receiver.account) - receiver.sentBefore
            defer { (start, rejections) = (now, sender.rejectionCount) }
            return now == start && sender.rejectionCount == rejections
                && receiver.stream == receiving
                && sender.stream == stream && sentCount < 60
        }
        send(counted: sender.withdraw(farewell, from: address), on: stream)
        settle()
        guard isDue() else { return }
        sender.meet("farewell expected")
        if receiver.directed.farewell(of: sender.name) != farewell.number {
            violation("\(receiver.name) was not told the farewell of \(sender.name) to \(address)")
        }
        let heard = receiver.presenceCounts[sender.name, default: 0]
        send(counted: sender.show(device, more: ""), on: stream)
        settle()
        guard isDue(), receiver.presenceCounts[sender.name, default: 0] != heard + 1 else {
            return
        }
        violation("\(receiver.name) was not told that \(sender.name) is there as before")
    }

    /// Whether an account is told of another's devices.
    private func sees(
        _ account: String, _ other: String, _ auditor: SimulatedCaller
    ) -> Bool {
        account == other
            || visibility(of: other).leases.contains(.approved)
                && contactsSeen(by: account, auditor).contains(other)
    }
}
