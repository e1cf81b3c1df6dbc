// The native protocol for those who work for app servers in the service's own process, and are
// not on its loop: a request is a call that waits without a thread, what the service sends by
// itself a sequence. Knows frames and JSON, and nothing of presence.
