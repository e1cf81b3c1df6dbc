// The numbers of what an account is sent about publishers that it may not see.
//
// They must not rise with what the publisher does: a subscriber could count that by asking again
// and again. Nor may they be lower than what the subscriber knows, or higher than what it is sent
// when it sees the publisher again. So the number is that of the last time that any account began
// or ceased to see the publisher, and each such change gives the publisher's topics a number, too.
//
// It is asked for the account, not for the session: if another session of the account may see the
// publisher, there is nothing to conceal, and a client can log in as either.

import Containers

extension Engine {
    /// The number of the state of an unknown account that an account is sent in the place of a
    /// publisher's.
    func numberOfHidden(_ topic: TopicHandle, for account: AccountHandle) -> UInt64 {
        let record = topics[topic.index]
        let leases = index.leases(on: topic, by: account)
        guard leases.isDisjoint(with: visibility(of: record.account).leases) else {
            return record.seq
        }
        // What an earlier run has sent is below the first number.
        return sightChanges[record.account] ?? sequence.first
    }

    /// Gives a topic a new number: what is sent about it from now on is newer than what any account
    /// was sent while it did not see it.
    mutating func renumber(_ topic: TopicHandle) {
        topics[topic.index].seq = sequence.next()
    }

    /// Notes that the subscribers that see an account have changed, after the event for them.
    mutating func noteSightChange(of account: AccountHandle) {
        sightChanges[account.index] = sequence.last
    }
}
