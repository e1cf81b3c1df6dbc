import Dispatch
import Foundation
import Synchronization

/// Notices ^C and SIGTERM instead of dying of them.
final class Interrupts {
    private let flag = Flag()
    private var sources: [any DispatchSourceSignal] = []

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    /// From now on.
    init() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [flag] in flag.isSet.store(true, ordering: .relaxed) }
            source.resume()
            sources.append(source)
        }
    }

    /// Whether one has come.
    var hasCome: Bool { flag.isSet.load(ordering: .relaxed) }
}
