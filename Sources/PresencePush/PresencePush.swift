// Web Push: readers of what is undelivered that send it to the push services of browsers.
//
//     undelivered ─▶ PushReader ─▶ PushShare ─▶ WebPush ─▶ POST, 32 at once
//                     │   ▲                                  │
//      position on disk   └──────────── PushLedger ◀─────────┘ accepted, gone, failed, rejected
//
// Each entry of `push-hosts` has its own reader, task and position, so that a push service that is
// down delays no other. What has failed is set aside by its endpoint, and read again when it is
// due: what a device has taken meanwhile is not among it. New messages do not wait for it. The
// position is before the first push that is not finished.
