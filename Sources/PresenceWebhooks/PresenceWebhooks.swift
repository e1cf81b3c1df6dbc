// Webhooks: feed readers that post what they read, in order, until the receiver accepts it.
//
//     feed ─▶ FeedReader ─▶ BatchBuilder ─▶ Webhook ─▶ POST, until it is accepted
//                                              │ accepted
//                                              └─▶ position on disk
//
// Each endpoint has its own reader, task and position, so that an unreachable receiver delays
// no other. While a batch waits, nothing more is read: the feed retains the events. When it no
// longer retains them, the endpoint is reset and posted a snapshot.
//
// A receiver that discards its table at `reset`, applies each event by `seq`, and answers 2xx
// when its table is durable stays correct. Two orders matter for that:
//     a position is written after its batch was accepted: a crash in between repeats, never skips
//     it is removed before a reset is posted: a discarded table is never continued
