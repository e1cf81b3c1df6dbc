import Connections
import PresenceCore
import PresenceWire

// Answers to native clients. One that does not fit into a message is split where that is possible,
// else rejected.

extension Clients {
    /// Answers the request that a native client waits for.
    mutating func answerNative(_ slot: Int, _ answer: Answer, in effects: borrowing Effects) {
        guard let id = protocols[slot].awaiting else { return endMismatched(slot) }
        switch answer {
        case .loggedIn(let login):
            counters.loginsOfClients += 1
            table.updateList(of: slot) { $0.beginList() }
            let name = login.account
            setAccount(
                of: slot, effects.bytes[Int(name.start)..<Int(name.start + name.count)])
            beginServing(slot)
            if let term = login.term { limit(slot, to: term) }
        case .refreshed(let term):
            limit(slot, to: term)
        case .loggedInAppServer:
            counters.loginsOfAppServers += 1
            if table.peer(of: slot) == .client { table.setPeer(of: slot, .appServer) }
            beginServing(slot)
        default:
            break
        }
        send(answer, to: id, of: slot, in: effects)
        // The engine closes the connection next, also if its peer sends no more.
        if case .loggedOut = answer { return noteAnswered(slot) }
        settle(slot)
    }

    /// Rejects the request that a native client waits for.
    mutating func rejectNative(
        _ slot: Int, _ rejection: Rejection, in effects: borrowing Effects
    ) {
        guard let id = protocols[slot].awaiting else { return endMismatched(slot) }
        sendRejection(rejection, to: id, of: slot, in: effects)
        settle(slot)
    }

    /// Answers a question about the service, or a change of a password.
    mutating func answerNative(
        _ slot: Int, _ answer: QuestionAnswer, in effects: borrowing Effects
    ) {
        guard let id = protocols[slot].awaiting else { return endMismatched(slot) }
        send(to: slot) { body in
            body.appendResponse(to: id) { $0.appendResult(answer, in: effects) }
        }
        settle(slot)
    }

    private mutating func sendRejection(
        _ rejection: Rejection, to id: RequestID, of slot: Int, in effects: borrowing Effects
    ) {
        count(rejection, of: slot)
        var outbox = table.beginAppending(to: slot)
        let framing = framing(of: slot)
        let start = framing.begin(in: &outbox)
        outbox.appendErrorBody(rejection, to: id, in: effects)
        framing.end(start, in: &outbox)
        table.endAppending(outbox, to: slot)
    }

    private mutating func send(
        _ answer: Answer, to id: RequestID, of slot: Int, in effects: borrowing Effects
    ) {
        var outbox = table.beginAppending(to: slot)
        let framing = framing(of: slot)
        let start = framing.begin(in: &outbox)
        let outcome = outbox.appendAnswerBody(
            answer, to: id, in: effects, settings: configuration.engine)
        framing.end(start, in: &outbox)
        table.endAppending(outbox, to: slot)
        guard case .tooLarge(let fit) = outcome else { return }
        switch answer {
        case .subscribed(let expires, let count, let states?):
            // The states that do not fit follow the answer, as those of a login list do.
            let first = states.lowerBound..<states.lowerBound + fit
            send(
                .subscribed(expires: expires, count: count, states: first), to: id, of: slot,
                in: effects)
            let rest = first.upperBound..<states.upperBound
            sendNativeStates(rest, of: .loginList, to: slot, in: effects)
        case .states, .sessions:
            // Their requests have no `limit`: names have to be left out.
            sendRejection(Rejection(.tooMany, limit: fit), to: id, of: slot, in: effects)
        default:
            sendRejection(
                Rejection(.tooMany, field: .limit, limit: fit), to: id, of: slot, in: effects)
        }
    }
}
