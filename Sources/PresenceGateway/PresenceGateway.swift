// Calls of the service, and its feed, for tasks on an event loop of NIO: a call is an async
// function, and so is the next item of the feed. Below it is the service's client in its own
// process (`InProcessClient`), which this module puts on the event loop.
