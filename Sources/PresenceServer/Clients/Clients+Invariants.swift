import Connections

extension Clients {
    /// Traps unless the table and the protocols agree with each other. O(connections).
    func checkInvariants() {
        table.checkInvariants()
        largeInputs.checkInvariants()
        for slot in table.indices { check(slot) }
        let count = table.indices.count { protocols.span[$0].client != nil }
        precondition(counters.answersMismatched == 0, "an answer to no request")
        precondition(count == xmpp?.clientCount ?? 0, "miscounted XMPP clients")
    }

    private func check(_ slot: Int) {
        let isWaiting = protocols.span[slot].isWaiting
        switch table.phase(of: slot) {
        case .free:
            guard case .none = protocols.span[slot] else {
                preconditionFailure("a free slot that is used")
            }
        case .anonymous: break
        case .serving:
            let variant = table.variant(of: slot)
            let isXMPP = protocols.span[slot].client != nil
            precondition(
                isXMPP == variant.isXMPP, "a client's variant")
        case .ending:
            precondition(isWaiting || table.list(of: slot).isListing, "nothing to do")
        case .closing:
            precondition(!isWaiting, "closed while it waits")
        }
    }
}
