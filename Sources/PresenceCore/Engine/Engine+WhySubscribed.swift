// `why`: when there was a subscription.

import Containers

/// A time between two numbers of the service's counter.
struct NumberSpan {
    var after: UInt64
    var upTo: UInt64
    /// If the number is not known: the time at which it began.
    var notBefore = Wall(milliseconds: .min)

    func contains(_ note: EventNote) -> Bool {
        after < note.seq && note.seq <= upTo && notBefore <= note.time
    }
}

/// The times at which one account was subscribed to another.
struct SubscribedSpans {
    /// The newest that have ended.
    var ended: [WhySubscription] = []
    /// All that are known, newest first. They do not overlap.
    var spans: [NumberSpan] = []

    /// Whether there was a subscription at an event. O(log n).
    func contains(_ note: EventNote) -> Bool {
        let place = spans.partitionPoint { $0.upTo >= note.seq }
        return place > 0 && spans[place - 1].contains(note)
    }
}

extension Engine {
    /// The current subscription, if there is one.
    func subscription(
        of subscriber: AccountHandle, to publisher: AccountHandle, _ type: EventType
    ) -> Subscription? {
        guard let topic = topic(type, of: publisher),
            let place = index.position(of: topic, by: subscriber)
        else { return nil }
        let subscription = index.subscriptions[Int(subscriber.index)][place]
        return subscription.leases.contains(.timed) ? subscription : nil
    }

    /// When the subscriber was subscribed to the publisher. O(history).
    ///
    /// From new to old, an end is followed by its beginning before the end of an older one. A
    /// beginning that is no longer in the history is that of the oldest.
    func subscribed(_ question: WhyQuestion, _ current: Subscription?) -> SubscribedSpans {
        var found = SubscribedSpans()
        guard let subscriber = question.subscriber, let publisher = question.publisher else {
            return found
        }
        let from = historyAccount(subscriber.index)
        let to = historyAccount(publisher.index)
        /// The `created` of the last span, until its beginning is found.
        var open: Wall?
        if let current {
            found.spans.append(
                NumberSpan(after: 0, upTo: .max, notBefore: current.created))
            open = current.created
        }
        history.subscriptions.forEachNewestFirst { note in
            guard note.subscriber == from, note.type == question.type else { return .on }
            if let end = WhySubscription.End(note.change) {
                guard note.publisher == to else { return .on }
                if found.ended.count < Self.whyEndedMax {
                    found.ended.append(
                        WhySubscription(created: note.created, until: note.time, end: end))
                }
                found.spans.append(
                    NumberSpan(after: 0, upTo: note.seq, notBefore: note.created))
                open = note.created
            } else if note.created == open {
                let last = found.spans.count - 1
                found.spans[last] = NumberSpan(after: note.seq, upTo: found.spans[last].upTo)
                open = nil
            }
            return .on
        }
        return found
    }
}

extension WhySubscription.End {
    fileprivate init?(_ change: SubscriptionNote.Change) {
        switch change {
        case .began: return nil
        case .expired: self = .expired
        case .endedByAccount: self = .byAccount
        case .endedByAppServer: self = .byAppServer
        }
    }
}
