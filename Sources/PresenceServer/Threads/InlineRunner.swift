import EventLoop
import PresenceCore
import SecureLoop

/// A service on one thread: the one that calls `run`.
final class InlineRunner: ServiceRunner {
    private let loop: SecureLoop
    private let driver: Driver

    init(_ loop: SecureLoop, _ driver: Driver) {
        self.loop = loop
        self.driver = driver
    }

    func run(
        _ signals: [CInt: SignalMeaning], cleaning: StoreCleaning, ready: @escaping () -> Void
    ) throws(UVError) {
        if !signals.isEmpty { try loop.loop.watchSignals(signals.keys.sorted()) }
        driver.signals = signals
        driver.connections.withHost { host, now in
            host.begin(cleaning: cleaning, at: now, ready: ready)
        }
        loop.run(driver)
    }

    func close() -> ServiceEnd {
        driver.connections.link.host.closeBoxes()
        loop.close()
        return ServiceEnd(
            error: driver.connections.link.host.serviceError,
            log: driver.connections.link.host.feed?.log, time: driver.connections.now())
    }
}
