// Web Push (RFC 8030), with messages that are encrypted for their browser (RFC 8291) and requests
// that say who sends them (VAPID, RFC 8292). Pure: what is sent and what an answer means.
//
//     entry of `undelivered` ─▶ PushMessage ─▶ plaintext ─┐
//     pushAddress ─▶ PushSubscription ─▶ keys ────────────┴▶ PushEncryption ─▶ body ─┐
//                          └─▶ PushEndpoint ─▶ VAPIDTokens ─▶ headers ───────────────┴▶ PushRequest
//
// Clients write the addresses. An endpoint is used only if its host is one of `PushHosts`.
