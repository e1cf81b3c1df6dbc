// Web Push: readers of what is undelivered that send it to the push services of browsers.
//
//     undelivered ─▶ PushReader ─▶ PushShare ─▶ WebPush ─▶ POST, 32 at once
//                     │   ▲                                  │
//      position on disk   └──────────── PushLedger ◀─────────┘ accepted, gone, again, rejected
//
// Each entry of `push-hosts` has its own reader, task and position, so that a push service that is
// down delays no other. What has failed is not kept to be sent again: the reader reads it again,
// from its position, and what a device has taken meanwhile is not among it. The position is before
// the first push that is not finished; the ledger remembers those that are finished beyond it.
