// A client of the native protocol inside the service's own process, for code that is not on the
// service's loop: a request is an async call, notifications are an async sequence. It knows frames
// and JSON, and nothing of presence.
