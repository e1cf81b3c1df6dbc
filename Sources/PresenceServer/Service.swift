public import EventLoop
public import Logging
import PresenceCore
public import PresenceStore

/// The presence service: event loops with their connections, an engine and a store.
///
/// Created and run on one thread, which `run` occupies until the service has been stopped. With one
/// connection loop, that thread is the service's.
public final class Service {
    private let runner: any ServiceRunner
    private let store: Store
    private let mailbox: Mailbox
    private let feedFile: FeedFile
    private let logger: Logger
    private let settings: Settings
    private let watchdog: Watchdog?
    /// The positions of readers in this process.
    public let readers: StoredReaders
    let loops: [(name: String, wakeup: Wakeup)]
    private let loopCount: Int
    /// When the service was made, by the machine's wall clock.
    private let wallMilliseconds: Int64
    /// The address that clients connect to.
    public let address: ListenAddress
    /// The address that clients connect to over TLS, if any.
    public let tlsAddress: ListenAddress?
    /// The address that XMPP clients connect to, if any.
    public let xmppAddress: ListenAddress?
    /// The address that XMPP clients connect to over TLS, if any.
    public let xmppTLSAddress: ListenAddress?

    /// Opens the store, binds the port and restores the stored state. No client is accepted yet.
    ///
    /// - Throws: why not, in one sentence. A database that is rejected is unchanged.
    public init(
        _ configuration: Configuration, logger: Logger, shift: ClockShift? = nil
    ) throws(ServiceError) {
        var configuration = configuration
        configuration.admission.fillInFromMachine()
        configuration.checkRelations()
        self.logger = logger
        settings = configuration.engine
        watchdog = configuration.watchdog
        loopCount = configuration.loopCount
        do throws(StoreFileError) {
            store = try Store.open(
                directory: configuration.dataDirectory, durability: configuration.durability)
            readers = try StoredReaders(store)
        } catch {
            throw .store(error)
        }
        try Self.checkMemory(for: store)
        let loops: ServiceLoops
        do throws(UVError) {
            loops = try ServiceLoops(connectionLoops: configuration.loopCount)
        } catch { throw .system(error) }
        do throws(ServiceError) {
            // In the order of `Configuration.listeners`.
            address = try loops.first.bind(configuration.host, configuration.port, "--listen")
            tlsAddress = try configuration.tls.map { tls throws(ServiceError) in
                try loops.first.bind(tls.host, tls.port, "--listen-tls")
            }
            xmppAddress = try configuration.xmpp?.plain.map { place throws(ServiceError) in
                try loops.first.bind(place.host, place.port, "--xmpp-listen")
            }
            xmppTLSAddress = try configuration.xmpp?.encrypted.map { place throws(ServiceError) in
                try loops.first.bind(place.host, place.port, "--xmpp-tls-listen")
            }
        } catch {
            loops.close()
            throw error
        }
        self.loops = loops.named
        wallMilliseconds = loops.first.wallMilliseconds
        feedFile = FeedFile(configuration)
        mailbox = Mailbox(loops.host.wakeup)
        do throws(StoreFileError) {
            runner = try ServiceAssembly(
                configuration: configuration, loops: loops, store: store, mailbox: mailbox,
                feedFile: feedFile, logger: logger
            ).runner(shift: shift)
        } catch {
            loops.close()
            throw .store(error)
        }
    }

    /// Rejects a database that does not fit into the limit of the control group: the kernel would
    /// end the process while it is read, at each start again.
    private static func checkMemory(for store: Store) throws(ServiceError) {
        let limit = MemoryLimit.current()
        guard case .group = limit.source else { return }
        let counts: [KeptTable: Int]
        do throws(StoreFileError) {
            counts = try store.rowCounts()
        } catch {
            throw .store(error)
        }
        try MemoryNeed(counts).check(limit)
    }

    /// How far the wall clock may be ahead of the last write to the database before it is not
    /// trusted to delete anything.
    private static var absenceMillisecondsMax: Int64 { 24 * 3_600 * 1_000 }

    /// After a long absence, or with a wrong clock, nothing is removed permanently.
    private var cleaning: StoreCleaning {
        guard let lastWritten = store.lastWritten else { return .ofExpired }
        let absence = wallMilliseconds - lastWritten
        guard absence > Self.absenceMillisecondsMax else { return .ofExpired }
        logger.warning(
            "the clock is far ahead of the database: expired entries are not removed",
            metadata: ["hours": .stringConvertible(absence / 3_600_000)])
        return .none
    }

    /// The controls for other threads.
    public var control: ServiceControl {
        ServiceControl(mailbox, settings, LoopCount(loopCount))
    }

    /// Serves until it is stopped; by then everything is committed and every client has been
    /// notified.
    ///
    /// `ready` is called once, when clients are accepted. With several connection loops it and the
    /// signals' actions are called on the thread of the engine host. `ended` is called when no
    /// client is connected any more; readers in this process are moved for the last time in it.
    public func run(
        signals: [CInt: SignalMeaning] = [:], ready: @escaping () -> Void,
        ended: () -> Void = {}
    ) throws(ServiceError) {
        store.start(
            outcome: { [mailbox, readers] outcomes in
                let others = readers.take(outcomes)
                if !others.isEmpty { mailbox.post(others) }
            },
            answered: { [mailbox] in mailbox.post($0) }, becameIdle: { Loop.returnFreeMemory() },
            backupsUnavailable: { [logger] reason in
                logger.warning(
                    "porchlight backup cannot ask this service", metadata: ["reason": "\(reason)"]
                )
            })
        var failure: ServiceError?
        do throws(UVError) {
            let watch = try watchdog?.watch(loops)
            defer { watch?.stop() }
            try runner.run(signals, cleaning: cleaning, ready: ready)
        } catch {
            failure = .system(error)
        }
        ended()
        readers.close()
        let report = store.stop()
        let left = mailbox.close()
        for box in left.boxes { box.close() }
        let end = runner.close()
        let error = failure ?? end.error
        if let log = end.log, error == nil, report.lostWrites == 0 {
            feedFile.put(log, logger, at: end.time)
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

/// What other threads may do to a running service.
public struct ServiceControl: Sendable {
    private let mailbox: Mailbox
    private let settings: Settings
    private let loops: LoopCount

    init(_ mailbox: Mailbox, _ settings: Settings, _ loops: LoopCount) {
        self.mailbox = mailbox
        self.settings = settings
        self.loops = loops
    }

    /// Shuts the service down in order, as SIGTERM does.
    public func stop() {
        mailbox.postStop()
    }

    /// Replaces the configuration without disconnecting any client. Limits, graces and keys may
    /// differ. What is used at startup, or is sent to clients at login, must be the same:
    /// addresses, the data directory, loops, feed, heartbeat, sizes of frames. Any thread.
    public func apply(_ configuration: Configuration) {
        mailbox.post(configuration)
    }

    /// A client of the service for one thread of this process, which calls it an app server that
    /// has logged in. No rate limit applies to it. At most four in the life of a service.
    ///
    /// `wake` is called by any thread when the client has something to `receive`; `needsHandOver`
    /// by the client's own thread when it has something to hand over.
    public func makeClient(
        _ limits: InProcessLimits = InProcessLimits(), wake: @escaping @Sendable () -> Void,
        needsHandOver: @escaping () -> Void
    ) throws(ServiceError) -> InProcessClient {
        var number = 0
        let box = mailbox.addBox {
            number = $0
            return LinkBox(
                loop: loops.index(ofLoopInProcess: $0),
                wakeHost: { [mailbox] in mailbox.wakeHost() }, wakeLoop: wake)
        }
        guard let box else { throw .ended }
        return InProcessClient(
            settings, limits, box: box, number: number, needsHandOver: needsHandOver)
    }
}

/// Why a service did not start, or did not shut down cleanly.
public enum ServiceError: Error, CustomStringConvertible {
    case store(StoreFileError)
    case address(String, UVError, setting: String)
    case system(UVError)
    /// The memory that the database needs is above the limit of the control group.
    case memory(neededBytes: UInt64, limitBytes: UInt64)
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
        case .memory(let needed, let limit):
            "Cannot start: the database needs about \(needed) bytes of memory; the limit of the "
                + "group is \(limit). Raise that limit."
        case .storeWrite(let error):
            "The database cannot be written (\(error)); the service did not start."
        case .lostWrites(let count):
            "The database could not be written at shutdown; \(count) changes of sessions or "
                + "statuses that did not have to be durable are lost."
        case .ended: "The service has shut down."
        }
    }
}
