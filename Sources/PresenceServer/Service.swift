public import EventLoop
public import Logging
import PresenceCore
public import PresenceStore

/// The presence service: a loop, an engine, a store, and the connections between them.
///
/// Made and run on one thread, which `run` keeps until the service has been stopped.
public final class Service {
    private let loop: Loop
    private let store: Store
    private let driver: Driver
    private let mailbox: Mailbox
    private let feedFile: FeedFile
    /// Where clients connect.
    public let address: ListenAddress

    /// Opens the store, binds the port and brings back what is stored. Nobody is served yet.
    ///
    /// - Throws: why not, in one sentence. A database that is refused is left as it is.
    public init(
        _ configuration: Configuration, logger: Logger, shift: ClockShift? = nil
    ) throws(ServiceRefusal) {
        var configuration = configuration
        configuration.admission.fillInFromMachine()
        do throws(StoreRefusal) {
            store = try Store.open(
                directory: configuration.dataDirectory, durability: configuration.durability)
        } catch {
            throw .store(error)
        }
        let name = "\(configuration.host):\(configuration.port)"
        do throws(UVError) {
            loop = try Loop(descriptorsReserved: AdmissionLimits.descriptorsFree)
        } catch { throw .system(error) }
        do throws(UVError) {
            address = try loop.bind(host: configuration.host, port: configuration.port)
        } catch {
            loop.close()
            throw .address(name, error)
        }
        var clock = ServiceClock(
            mono: loop.monotonicMilliseconds, wall: loop.wallMilliseconds, shift: shift)
        let now = clock.moment(mono: loop.monotonicMilliseconds, wall: loop.wallMilliseconds)
        let feedFile = FeedFile(configuration)
        var log = feedFile.take(stamp: store.stampAtOpening, logger, at: now)
        do throws(StoreRefusal) {
            var engine = try Engine.restored(
                from: store, configuration.engine, feed: log == nil ? .off : .on, at: now)
            if let kept = log, kept.head > engine.lastSeq {
                log = nil
                engine.setFeed(.off)
            }
            var reactor = Reactor(
                configuration, engine: engine, clock: clock, loop: loop, store: store,
                logger: logger, seed: UInt64.random(in: 0...UInt64.max), feed: log)
            mailbox = Mailbox(loop.wakeup)
            reactor.judges = TokenJudges(mailbox)
            driver = Driver(reactor, mailbox)
        } catch {
            loop.close()
            throw .store(error)
        }
        self.feedFile = feedFile
    }

    /// How far the wall clock may have come since the database was last written before it is
    /// not believed to have run that long.
    private static var absenceMillisecondsMax: Int64 { 24 * 3_600 * 1_000 }

    /// After a long absence, or with a clock that is set wrong, nothing is removed for good.
    private var cleaning: Reactor<Loop, Store>.Cleaning {
        guard let lastWritten = store.lastWritten else { return .ofExpired }
        let absence = loop.wallMilliseconds - lastWritten
        guard absence > Self.absenceMillisecondsMax else { return .ofExpired }
        driver.reactor.logger.warning(
            "the clock is far ahead of the database: expired entries are not removed",
            metadata: ["hours": "\(absence / 3_600_000)"])
        return .none
    }

    /// What other threads may do to the service.
    public var control: ServiceControl { ServiceControl(mailbox) }

    /// Serves until it is stopped; then everything is committed and everybody has been told.
    ///
    /// `ready` is called once, on this thread, when clients are let in.
    public func run(
        signals: [CInt: SignalMeaning] = [:], ready: @escaping () -> Void
    ) throws(ServiceRefusal) {
        do throws(UVError) {
            if !signals.isEmpty { try loop.watchSignals(signals.keys.sorted()) }
        } catch {
            throw .system(error)
        }
        store.start(
            outcome: { [mailbox] in mailbox.post($0) }, rested: { Loop.returnFreeMemory() })
        driver.signals = signals
        driver.reactor.begin(cleaning: cleaning, ready: ready)
        loop.run(driver)
        let report = store.stop()
        for socket in mailbox.close().visitors { SocketPair.close(socket) }
        loop.close()
        let refusal = driver.reactor.refusal
        if let log = driver.reactor.feed?.log, refusal == nil, report.lostWrites == 0 {
            feedFile.put(log, driver.reactor.logger, at: driver.reactor.now())
        }
        if let refusal { throw refusal }
        if report.lostWrites > 0 { throw .lostWrites(report.lostWrites) }
    }
}

/// What other threads may do to a running service.
public struct ServiceControl: Sendable {
    private let mailbox: Mailbox

    init(_ mailbox: Mailbox) {
        self.mailbox = mailbox
    }

    /// Stops the service in order, as SIGTERM does.
    public func stop() {
        mailbox.postStop()
    }

    /// Has the service go on with another configuration, without anybody noticing: with its
    /// limits, graces and keys. Addresses, the folder, the heartbeat and the sizes of clients'
    /// frames stay what they were at the start. Any thread.
    public func apply(_ configuration: Configuration) {
        mailbox.post(configuration)
    }

    /// A connection to the service that has logged in as an app server, for those who work for
    /// it in this process: the caller's end, which speaks the protocol and does not block.
    ///
    /// It counts against no limit of pace. Its end is the service's end, and the other way
    /// round. Any thread.
    public func connect() throws(ServiceRefusal) -> CInt {
        let pair: SocketPair
        do throws(UVError) { pair = try SocketPair() } catch { throw .system(error) }
        guard mailbox.post(visitor: pair.loopEnd) else {
            SocketPair.close(pair.loopEnd)
            SocketPair.close(pair.otherEnd)
            throw .ended
        }
        return pair.otherEnd
    }

    /// Has the service look at its clocks, which a test has moved.
    public func wake() {
        mailbox.wake()
    }
}

/// Why a service did not start, or did not end well.
public enum ServiceRefusal: Error, CustomStringConvertible {
    case store(StoreRefusal)
    case address(String, UVError)
    case system(UVError)
    case storeFault(StoreFault)
    case lostWrites(Int)
    case ended

    /// One sentence for whoever runs the service.
    public var description: String {
        switch self {
        case .store(let refusal): refusal.description
        case .address(let address, let error):
            "Cannot listen on \(address) (\(error)); choose another address or port with --listen."
        case .system(let error):
            "A system call failed (\(error)); check the limits of the process."
        case .storeFault(let fault):
            "The database cannot be written (\(fault)); the service did not start."
        case .lostWrites(let count):
            "The database could not be written at shutdown; \(count) changes of sessions or "
                + "statuses that did not have to be durable are lost."
        case .ended: "The service has shut down."
        }
    }
}
