// What webhooks and Web Push share: what they read, where they are, how something is posted once,
// and how long they wait after a failure.
