// `why`: what became of the last messages between two accounts. Never their texts.

import Containers

extension Engine {
    /// Messages that a report has at most.
    static var whyMessagesMax: Int { 10 }

    /// The last messages between the two accounts, newest first: both ways, and if both are the
    /// same account, also what the service has sent it. Nil without messages. O(history).
    func messages(between question: WhyQuestion, into effects: inout Effects) -> [WhyMessage]? {
        guard settings.messages == .on else { return nil }
        guard let subscriber = question.subscriber, let publisher = question.publisher else {
            return []
        }
        let one = messageParty(subscriber.index)
        let other = messageParty(publisher.index)
        var found: [WhyMessage] = []
        history.messages.forEachNewestFirst { note in
            guard let writer = writer(of: note, one, other) else { return .on }
            found.append(message(of: note, writer, into: &effects))
            return found.count == Self.whyMessagesMax ? .stop : .on
        }
        return found
    }

    /// Who of the two has written a message to the other; nil: neither.
    private func writer(
        of note: MessageNote, _ one: MessageParty, _ other: MessageParty
    ) -> WhyMessage.Writer? {
        guard let sender = note.sender else {
            return one == other && note.recipient == one ? .service : nil
        }
        if sender == one, note.recipient == other { return .subscriber }
        return sender == other && note.recipient == one ? .publisher : nil
    }

    private func message(
        of note: MessageNote, _ writer: WhyMessage.Writer, into effects: inout Effects
    ) -> WhyMessage {
        let hasTime = note.fate != .waiting && note.fate != .lost
        return WhyMessage(
            id: note.id, writer: writer, time: note.time, fate: note.fate,
            device: note.device == .none
                ? nil : effects.copy(note.device, from: history.devices),
            ended: hasTime ? note.ended : nil, sentCount: Int(note.sentCount),
            handedOver: note.handedOver)
    }
}
