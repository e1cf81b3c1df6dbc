public import Deliveries
public import Logging
import NIOCore
import OutgoingHTTP
public import PresenceGateway
import Synchronization
public import TaskLoops
import WebPush

/// The readers of all push services. They send from `start` to `stop`.
public final class PushSenders: Sendable {
    private let makeReaders: @Sendable (Gateway, ReaderPositions) -> [PushReader]
    private let loop: TaskLoop
    /// One for each reader: what waits for a push service that is down takes no connection of
    /// another.
    private let clients: [OutgoingHTTP]
    private let running = Mutex<(readers: [PushReader], tasks: [Task<Void, Never>])>(([], []))

    /// The most connections of a reader. Push services speak HTTP/2, over one.
    public static let connectionsPerHostMax = 8

    /// Nothing is sent before `start`; without settings, nothing at all.
    public init(
        _ settings: PushSettings?, on loop: TaskLoop, authoritiesPath: String?,
        wallMilliseconds: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        self.loop = loop
        let clients = (settings?.hosts.entries ?? []).map { _ in
            OutgoingHTTP(
                on: loop, transfersMax: PushSettings.inFlightMax,
                connectionsMax: Self.connectionsPerHostMax, authoritiesPath: authoritiesPath)
        }
        self.clients = clients
        makeReaders = { gateway, positions in
            guard let settings else { return [] }
            return clients.enumerated().map { place, http in
                let environment = PushReader.Environment(
                    delivery: HTTPDelivery(http: http), devices: ServiceDevices(gateway: gateway),
                    positions: positions,
                    pause: { try await loop.sleep(for: .milliseconds(Int64($0))) },
                    milliseconds: { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) },
                    wallMilliseconds: wallMilliseconds, logger: logger)
                return PushReader(place, settings, environment)
            }
        }
    }

    /// Begins to read and to send, each from its position.
    public func start(over gateway: Gateway, from positions: ReaderPositions) {
        running.withLock { running in
            guard running.tasks.isEmpty else { return }
            running.readers = makeReaders(gateway, positions)
            running.tasks = running.readers.map { reader in
                loop.task {
                    await reader.serve { try await gateway.openUndelivered(from: $0) }
                }
            }
        }
    }

    /// Stops, and returns when every reader has stopped. What is in flight is abandoned, and sent
    /// again after the next start.
    public func stop() async {
        let tasks = running.withLock { $0.tasks }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        for http in clients { await http.stop() }
    }

    /// The current counters of each reader.
    public func snapshot() -> [PushCounters] {
        running.withLock { $0.readers }.map(\.counters)
    }
}
