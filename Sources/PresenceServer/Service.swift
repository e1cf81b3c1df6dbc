public import EventLoop
public import Logging
import PresenceCore
public import PresenceStore
import SecureLoop

/// The presence service: an event loop with its connections, an engine and a store.
///
/// Created and run on one thread, which `run` occupies until the service has been stopped.
public final class Service {
    private let loop: SecureLoop
    private let store: Store
    private let driver: Driver
    private let mailbox: Mailbox
    private let feedFile: FeedFile
    /// The address that clients connect to.
    public let address: ListenAddress
    /// The address that clients connect to over TLS, if any.
    public let tlsAddress: ListenAddress?

    /// Opens the store, binds the port and restores the stored state. No client is accepted yet.
    ///
    /// - Throws: why not, in one sentence. A database that is rejected is unchanged.
    public init(
        _ configuration: Configuration, logger: Logger, shift: ClockShift? = nil
    ) throws(ServiceError) {
        var configuration = configuration
        configuration.admission.fillInFromMachine()
        configuration.checkRelations()
        do throws(StoreFileError) {
            store = try Store.open(
                directory: configuration.dataDirectory, durability: configuration.durability)
        } catch {
            throw .store(error)
        }
        let loop: Loop
        do throws(UVError) {
            loop = try Loop(descriptorsReserved: AdmissionLimits.descriptorsFree)
        } catch { throw .system(error) }
        do throws(ServiceError) {
            address = try loop.bind(configuration.host, configuration.port, "--listen")
            tlsAddress = try configuration.tls.map { tls throws(ServiceError) in
                try loop.bind(tls.host, tls.port, "--listen-tls")
            }
        } catch {
            loop.close()
            throw error
        }
        // In the order of the calls of `bind`.
        let secure = SecureLoop(
            loop, secureListeners: configuration.tls == nil ? [] : [1],
            context: configuration.tls?.context, limits: .ofThisMachine)
        self.loop = secure
        var clock = ServiceClock(
            mono: loop.monotonicMilliseconds, wall: loop.wallMilliseconds, shift: shift)
        let now = clock.moment(mono: loop.monotonicMilliseconds, wall: loop.wallMilliseconds)
        let feedFile = FeedFile(configuration)
        var log = feedFile.take(stamp: store.stampAtOpening, logger, at: now)
        do throws(StoreFileError) {
            var engine = try Engine.restored(
                from: store, configuration.engine, feed: log == nil ? .off : .on, at: now)
            if let kept = log, kept.head > engine.lastSeq {
                log = nil
                engine.setFeed(.off)
            }
            mailbox = Mailbox(loop.wakeup)
            let heard = HeardTable()
            let seed = UInt64.random(in: 0...UInt64.max)
            var host = EngineHost(
                configuration, engine: engine, heard: [heard], store: store, resources: loop,
                logger: logger, seed: seed, feed: log, at: now)
            host.tokens.verifier = TokenThread(mailbox)
            driver = Driver(
                ConnectionLoop(
                    configuration, link: InlineLink(host), clock: clock, loop: secure,
                    heard: heard,
                    logger: logger, seed: ~seed),
                mailbox)
        } catch {
            loop.close()
            throw .store(error)
        }
        self.feedFile = feedFile
    }

    /// How far the wall clock may be ahead of the last write to the database before it is not
    /// trusted to delete anything.
    private static var absenceMillisecondsMax: Int64 { 24 * 3_600 * 1_000 }

    /// After a long absence, or with a wrong clock, nothing is removed permanently.
    private var cleaning: StoreCleaning {
        guard let lastWritten = store.lastWritten else { return .ofExpired }
        let absence = loop.wallMilliseconds - lastWritten
        guard absence > Self.absenceMillisecondsMax else { return .ofExpired }
        driver.connections.logger.warning(
            "the clock is far ahead of the database: expired entries are not removed",
            metadata: ["hours": "\(absence / 3_600_000)"])
        return .none
    }

    /// The controls for other threads.
    public var control: ServiceControl { ServiceControl(mailbox) }

    /// Serves until it is stopped; by then everything is committed and every client has been
    /// notified.
    ///
    /// `ready` is called once, on this thread, when clients are accepted.
    public func run(
        signals: [CInt: SignalMeaning] = [:], ready: @escaping () -> Void
    ) throws(ServiceError) {
        do throws(UVError) {
            if !signals.isEmpty { try loop.loop.watchSignals(signals.keys.sorted()) }
        } catch {
            throw .system(error)
        }
        store.start(
            outcome: { [mailbox] in mailbox.post($0) }, becameIdle: { Loop.returnFreeMemory() })
        driver.signals = signals
        let cleaning = cleaning
        driver.connections.withHost { host, now in
            host.begin(cleaning: cleaning, at: now, ready: ready)
        }
        loop.run(driver)
        let report = store.stop()
        let left = mailbox.close()
        for socket in left.internalSockets { SocketPair.close(socket) }
        for box in left.boxes { box.close() }
        driver.connections.link.host.closeBoxes()
        loop.close()
        let error = driver.connections.link.host.serviceError
        if let log = driver.connections.link.host.feed?.log, error == nil,
            report.lostWrites == 0
        {
            feedFile.put(log, driver.connections.logger, at: driver.connections.now())
        }
        if let error { throw error }
        if report.lostWrites > 0 { throw .lostWrites(report.lostWrites) }
    }
}

extension Loop {
    /// Binds an address that a setting names.
    fileprivate func bind(
        _ host: String, _ port: UInt16, _ setting: String
    ) throws(ServiceError) -> ListenAddress {
        do throws(UVError) {
            return try bind(host: host, port: port)
        } catch {
            throw .address("\(host):\(port)", error, setting: setting)
        }
    }
}

extension SecureLoop.Limits {
    /// A thread for each processor besides that of the loop, at most four.
    fileprivate static var ofThisMachine: Self {
        var limits = Self()
        limits.threads = max(1, min(4, Processors.allowed().count - 1))
        return limits
    }
}

/// What other threads may do to a running service.
public struct ServiceControl: Sendable {
    private let mailbox: Mailbox

    init(_ mailbox: Mailbox) {
        self.mailbox = mailbox
    }

    /// Shuts the service down in order, as SIGTERM does.
    public func stop() {
        mailbox.postStop()
    }

    /// Replaces the configuration without disconnecting any client: limits, graces and keys.
    /// Addresses, the data directory, the heartbeat and the sizes of clients' frames keep their
    /// values from startup. Any thread.
    public func apply(_ configuration: Configuration) {
        mailbox.post(configuration)
    }

    /// An in-process connection that is logged in as an app server. The caller gets its own end, a
    /// non-blocking socket that speaks the protocol.
    ///
    /// No rate limit applies to it. When either end is closed, so is the other. Any thread.
    public func connect() throws(ServiceError) -> CInt {
        let pair: SocketPair
        do throws(UVError) { pair = try SocketPair() } catch { throw .system(error) }
        guard mailbox.post(internalSocket: pair.loopEnd) else {
            SocketPair.close(pair.loopEnd)
            SocketPair.close(pair.otherEnd)
            throw .ended
        }
        return pair.otherEnd
    }

    /// Makes the service read its clocks, which a test has moved.
    public func wake() {
        mailbox.wake()
    }
}

/// Why a service did not start, or did not shut down cleanly.
public enum ServiceError: Error, CustomStringConvertible {
    case store(StoreFileError)
    case address(String, UVError, setting: String)
    case system(UVError)
    case storeWrite(StoreError)
    case lostWrites(Int)
    case ended

    /// One sentence for the operator.
    public var description: String {
        switch self {
        case .store(let error): error.description
        case .address(let address, let error, let setting):
            "Cannot listen on \(address) (\(error)); choose another address or port with "
                + "\(setting)."
        case .system(let error):
            "A system call failed (\(error)); check the limits of the process."
        case .storeWrite(let error):
            "The database cannot be written (\(error)); the service did not start."
        case .lostWrites(let count):
            "The database could not be written at shutdown; \(count) changes of sessions or "
                + "statuses that did not have to be durable are lost."
        case .ended: "The service has shut down."
        }
    }
}
