import EventLoop
import Logging
import PresenceClient
import PresenceCore

@testable import Connections
@testable import PresenceServer

/// A connection loop and the engine host, inline, over a simulated network and disk.
final class SmallService {
    let network = SimulatedNetwork()
    let disk = SimulatedDisk()
    typealias Link = InlineLink<SimulatedDisk, SimulatedNetwork>
    var connections: ConnectionLoop<SimulatedNetwork, Link>
    private var lastID = 0
    /// Beginnings of frames.
    private var received: [StreamID: [UInt8]] = [:]

    init(
        _ logger: Logger = Logger(label: "test"),
        _ adjust: (inout Configuration) -> Void = { _ in }
    ) {
        var configuration = Configuration()
        configuration.switchOffPace()
        adjust(&configuration)
        let clock = ServiceClock(
            mono: network.monotonicMilliseconds, wall: network.wallMilliseconds)
        let now = Moment(
            mono: Mono(milliseconds: network.monotonicMilliseconds),
            wall: Wall(milliseconds: network.wallMilliseconds))
        connections = Self.start(
            configuration, Engine(settings: configuration.engine, at: now, seed: 1), clock, network,
            disk, logger, at: now)
        connections.withHost { host, now in host.begin(at: now) {} }
        commit()
    }

    static func start(
        _ configuration: Configuration, _ engine: consuming Engine, _ clock: ServiceClock,
        _ network: SimulatedNetwork, _ disk: SimulatedDisk, _ logger: Logger, at now: Moment
    ) -> ConnectionLoop<SimulatedNetwork, Link> {
        let heard = HeardTable()
        let host = EngineHost(
            configuration, engine: engine, heard: [heard], store: disk, resources: network,
            logger: logger, seed: 1, at: now)
        return ConnectionLoop(
            configuration, link: InlineLink(host), clock: clock, loop: network, heard: heard,
            logger: logger, seed: 1)
    }

    /// Connections that have something to write.
    var dirtyCount: Int { connections.clients.table.dirty.count }
    /// Bytes that sockets have not accepted.
    var bytesBlocked: Int { connections.clients.table.bytesBlocked }

    /// How far a connection has come.
    func phase(of id: StreamID) -> ConnectionPhase {
        connections.clients.table.phase(of: Int(id.slot))
    }

    /// How many topics a connection has missed.
    func topicsMissed(by id: StreamID) -> Int {
        let connection = connections.clients.number.connection(id)
        return connections.link.host.engine.topicsMissed(by: connection)
    }

    /// A connection whose client has room for so many bytes.
    func connect(roomBytes: Int = 1 << 20) -> StreamID {
        let id = network.open(roomBytes: roomBytes)
        connections.accept(id)
        return id
    }

    /// An app server.
    func connectAppServer() -> StreamID {
        let id = connect()
        _ = ask("login", ["client": "server"], on: id)
        return id
    }

    /// Sends a request, without a turn's end.
    func send(_ method: String, _ params: JSON = [:], on id: StreamID) {
        lastID += 1
        let body = Array(
            JSON.object([
                "jsonrpc": "2.0", "id": .integer(Int64(lastID)), "method": .string(method),
                "params": params,
            ]).text.utf8)
        let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: body.count >> $0) }
        connections.receive((length + body).span.bytes, from: id)
    }

    /// Has everything that was submitted made durable.
    func commit() {
        connections.turnEnded()
        connections.withHost { host, now in host.report(disk.settle(isFailing: false), at: now) }
        connections.turnEnded()
        connections.checkInvariants()
        connections.link.host.engine.checkInvariants()
    }

    /// Lets time pass, with a turn whenever the service has armed its timer.
    func pass(milliseconds: UInt64) {
        let end = network.monotonicMilliseconds + milliseconds
        while network.monotonicMilliseconds < end {
            let armed = min(network.armed ?? end, end)
            let step =
                max(armed, network.monotonicMilliseconds + 1) - network.monotonicMilliseconds
            network.monotonicMilliseconds += step
            network.wallMilliseconds += Int64(step)
            connections.turnEnded()
        }
    }

    /// What has come since the last call.
    func messages(_ id: StreamID, bytesMax: Int = .max) -> [JSON] {
        let (bytes, isDrained) = network.read(id, bytesMax: bytesMax)
        if isDrained { connections.streamDrained(id) }
        var messages: [JSON] = []
        var rest = (received[id] ?? []) + bytes
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 4 + length else { break }
            let body = Array(rest.dropFirst(4).prefix(length))
            rest.removeFirst(4 + length)
            if let message = try? JSON(parsing: body) { messages.append(message) }
        }
        received[id] = rest
        return messages
    }

    /// Asks and gives the answer: its result, or its error.
    func ask(_ method: String, _ params: JSON = [:], on id: StreamID) -> JSON {
        send(method, params, on: id)
        commit()
        let answer = messages(id).first { $0["id"]?.integer == Int64(lastID) }
        return answer?["result"] ?? answer?["error"] ?? [:]
    }

    func login(_ account: String, _ device: String = "d", roomBytes: Int = 1 << 20) -> StreamID {
        let id = connect(roomBytes: roomBytes)
        send("login", ["account": .string(account), "device": .string(device)], on: id)
        commit()
        _ = messages(id)
        return id
    }
}
