import PresenceCore

extension EngineHost {
    /// Measures memory, when that is due.
    mutating func maintainMemory(at now: Mono, heardUpTo: Mono) {
        guard let due = memory.nextDeadline, due <= heardUpTo else { return }
        // For a stalled loop, one would wait for each time.
        if memory.look(resources, at: now) { output.appendToAll(.trim, omitting: stalledLoops) }
    }
}
