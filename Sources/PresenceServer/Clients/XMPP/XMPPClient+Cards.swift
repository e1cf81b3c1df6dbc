import Connections
import PresenceCore
import PresenceXMPP

// Cards (XEP-0054): read from the store and written to it by the engine host.

extension XMPPClient {
    /// Has a card read or replaced.
    func handle(_ request: CardRequest, _ head: StanzaHead, _ clients: inout Clients) {
        wait(for: .card(head))
        clients.inbound.append(.card(clients.connectionID(slot), request))
    }

    /// Continues a request of the client with the answer of the store.
    func take(_ answer: CardAnswer, _ clients: inout Clients) {
        guard clients.table.phase(of: slot) != .closing else { return }
        guard case .card(let head) = awaiting, let sender else {
            return clients.endMismatched(slot)
        }
        switch answer {
        case .content(let content):
            send(&clients) { $0.appendCard(content, head, to: sender) }
        case .replaced: send(&clients) { $0.appendResult(head, to: sender) }
        case .none: send(.itemNotFound, head, &clients)
        case .full: send(.cardsFull, head, &clients)
        }
        clients.settle(slot)
    }
}
