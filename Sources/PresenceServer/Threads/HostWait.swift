import PresenceCore

/// How long the engine host waits between two turns, if nothing arrives.
struct HostWait: Equatable {
    /// When it is to be called; nil: when something arrives.
    let end: Mono?
    /// From when on it is late: see `RollCall`. Nil while the roll is called, or if it waits for
    /// nothing.
    let awaited: Mono?

    /// `deadline` is the host's next one, which may have passed: it does not fire before input from
    /// before it has been taken in.
    init(rollEnd: Mono?, isInputHeld: Bool, isBusy: Bool, deadline: Mono?, at now: Mono) {
        if let rollEnd {
            // Deadlines wait for the roll, and its answers wake the host; other work goes on.
            end = isBusy ? now : rollEnd
            awaited = nil
        } else if isInputHeld {
            // Deadlines wait for the input, which waits for a loop, and that wakes the host.
            end = nil
            awaited = now
        } else {
            end = isBusy ? now : deadline
            // A deadline that waited for the roll or for input is not a sign of lateness.
            awaited = end.map { max($0, now) }
        }
    }
}
