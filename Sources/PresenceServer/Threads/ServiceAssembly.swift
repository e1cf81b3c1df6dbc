import Connections
import EventLoop
import Logging
import PresenceCore
import PresenceStore
import SecureLoop

/// Makes the engine host and the connection loops of a service, from what is stored.
struct ServiceAssembly {
    let configuration: Configuration
    let loops: ServiceLoops
    let store: Store
    let mailbox: Mailbox
    let feedFile: FeedFile
    let logger: Logger
    private let seed = UInt64.random(in: 0...UInt64.max)

    init(
        configuration: Configuration, loops: ServiceLoops, store: Store, mailbox: Mailbox,
        feedFile: FeedFile, logger: Logger
    ) {
        self.configuration = configuration
        self.loops = loops
        self.store = store
        self.mailbox = mailbox
        self.feedFile = feedFile
        self.logger = logger
    }

    func runner(shift: ClockShift?) throws(StoreFileError) -> any ServiceRunner {
        var clock = ServiceClock(
            mono: loops.first.monotonicMilliseconds, wall: loops.first.wallMilliseconds,
            shift: shift)
        let now = clock.moment(
            mono: loops.first.monotonicMilliseconds, wall: loops.first.wallMilliseconds)
        let heard = loops.connections.map { _ in HeardTable() }
        let host = try host(heard, at: now)
        guard loops.connections.count > 1 else {
            let loop = makeSecureLoops()[0]
            return InlineRunner(
                loop,
                Driver(
                    ConnectionLoop(
                        configuration, link: InlineLink(host), clock: clock, loop: loop,
                        heard: heard[0], logger: logger, seed: ~seed),
                    mailbox))
        }
        return threadedRunner(host, heard, clock)
    }

    /// The connection loops, with TLS for the listeners that use it.
    private func makeSecureLoops() -> [SecureLoop] {
        let threads = HandshakeThreads.ofThisMachine
        let limits = SecureLoop.Limits(shareOf: loops.connections.count)
        let kinds = configuration.listeners
        return loops.connections.map { loop in
            SecureLoop(
                loop, secureListeners: configuration.secureListeners,
                context: configuration.tls?.context,
                contextsOfListeners: configuration.contextsOfListeners, limits: limits,
                threads: threads,
                plainAnswer: { first, listener in
                    kinds[listener] == .nativeTLS ? .answerWithoutTLS(toFirstByte: first) : []
                })
        }
    }

    private func host(
        _ heard: [HeardTable], at now: Moment
    ) throws(StoreFileError) -> EngineHost<Store, Loop> {
        var log = feedFile.take(stamp: store.stampAtOpening, logger, at: now)
        var passwords = StoredPasswords()
        var cards = Cards()
        var identity: UInt64 = 0
        var engine = try Engine.restored(
            from: store, configuration.engine, feed: log == nil ? .off : .on,
            passwords: &passwords, cards: &cards, identity: &identity, at: now)
        if let kept = log, kept.head > engine.lastSeq {
            log = nil
            engine.setFeed(.off)
        }
        var host = EngineHost(
            configuration, engine: engine, heard: heard, store: store, resources: loops.host,
            logger: logger, seed: seed, feed: log, at: now)
        host.cards = cards
        host.undelivered = UndeliveredReaders(identity: identity)
        host.tokens.verifier = TokenThread(mailbox)
        host.passwords = PasswordTasks(
            stored: passwords, seed: seed, thread: PasswordThread(mailbox))
        return host
    }

    private func threadedRunner(
        _ host: consuming EngineHost<Store, Loop>, _ heard: [HeardTable], _ clock: ServiceClock
    ) -> ThreadedRunner {
        let count = loops.connections.count
        let hostWakeup = loops.host.wakeup
        let counts = ConnectionCounts(loops: count, seed: ~seed)
        let acceptedSockets = loops.connections.map { AcceptedSockets($0.wakeup) }
        let boxes = loops.connections.enumerated().map { index, loop in
            let wakeup = loop.wakeup
            return LinkBox(
                loop: index, wakeHost: { hostWakeup.wake() }, wakeLoop: { wakeup.wake() })
        }
        let drivers = makeSecureLoops().enumerated().map { index, loop in
            LoopDriver(
                ConnectionLoop(
                    configuration, number: LoopNumber(index: index, of: count),
                    link: ThreadedLink(boxes[index]), clock: clock, loop: loop,
                    heard: heard[index], counts: counts, logger: logger, seed: ~seed),
                boxes[index], acceptedSockets, counts)
        }
        let engine = EngineDriver(host, on: loops.host, clock, mailbox, boxes, counts)
        return ThreadedRunner(loops, engine, drivers, boxes, acceptedSockets)
    }
}

extension HandshakeThreads {
    /// A thread for each processor besides that of a loop, at most four.
    fileprivate static var ofThisMachine: HandshakeThreads {
        HandshakeThreads(count: max(1, min(4, Processors.allowed().count - 1)))
    }
}

extension SecureLoop.Limits {
    /// One loop's part of the limits of a process.
    init(shareOf loopCount: Int) {
        self.init()
        handshakesMax /= loopCount
        waitingMax /= loopCount
    }
}
