import EventLoop
import PresenceCore

/// The threads of a service: one, or one for each connection loop and one for the engine host.
protocol ServiceRunner: AnyObject {
    /// Runs until the service has ended. Signals and `ready` are called on the thread of the engine
    /// host.
    func run(
        _ signals: [CInt: SignalMeaning], cleaning: StoreCleaning, ready: @escaping () -> Void
    ) throws(UVError)

    /// Closes what is still open.
    func close() -> ServiceEnd
}

/// What is left of a service that has ended.
struct ServiceEnd {
    /// Why it ended by itself.
    var error: ServiceError?
    /// The feed's events.
    var log: FeedLog?
    var time: Moment
}

/// The event loops of a service.
struct ServiceLoops {
    /// The first one accepts connections.
    let connections: [Loop]
    /// The engine host's; nil: that of the only connection loop.
    private let engine: Loop?

    init(connectionLoops count: Int) throws(UVError) {
        var made: [Loop] = []
        do throws(UVError) {
            made.append(try Loop(descriptorsReserved: AdmissionLimits.descriptorsFree))
            // One for each other connection loop, and one for the engine host.
            for _ in 1..<(count > 1 ? count + 1 : 1) { made.append(try Loop()) }
        } catch {
            for loop in made { loop.close() }
            throw error
        }
        engine = count > 1 ? made.removeLast() : nil
        connections = made
    }

    /// The one that accepts connections.
    var first: Loop { connections[0] }

    /// The engine host's.
    var host: Loop { engine ?? first }

    /// All of them, by the names of their threads.
    var named: [(name: String, wakeup: Wakeup)] {
        let loops = connections.enumerated().map { (name: "loop \($0)", wakeup: $1.wakeup) }
        return loops + (engine.map { [(name: "engine", wakeup: $0.wakeup)] } ?? [])
    }

    /// Closes all of them, before they have run.
    func close() {
        for loop in connections { loop.close() }
        engine?.close()
    }
}
