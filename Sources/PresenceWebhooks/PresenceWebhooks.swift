// Webhooks: readers of the feed that post what they read, in order, until it is taken.
//
//     feed ─▶ GatewayConnection ─▶ BatchBuilder ─▶ Webhook ─▶ POST, again and again
//                                                     │ taken
//                                                     └─▶ position on disk
//
// Each endpoint has a connection, a task and a position of its own, so that one that is down
// slows nobody. While its batch waits, nothing more is read: the service's ring holds what it has
// missed, and when the ring has passed it, the endpoint is begun anew with the states in force.
//
// What is posted is right for ever, for a receiver that clears its table at `reset`, applies each
// event by `seq`, and answers 2xx when its table is kept. Two orders matter for that:
//     a position is written after its batch was taken: a crash between repeats, never skips
//     it is removed before a reset is posted: a table that was cleared is never gone on with
