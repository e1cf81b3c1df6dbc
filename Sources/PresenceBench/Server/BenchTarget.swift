public import EventLoop

/// The service that a run measures.
public enum BenchTarget: Sendable {
    /// A service that the run starts, from this program.
    case child(executable: String, options: [String])
    /// A running service; `process` is its process id, if its CPU time is to be read.
    case running(ListenAddress, process: Int32?, tls: BenchTLS? = nil)
}

/// The options of every scenario.
public struct BenchOptions: Sendable {
    /// The service.
    public var target: BenchTarget
    /// Fixes names, order and jitter.
    public var seed: UInt64
    /// An app server's key; nil with `--auth open`.
    public var serverKey: String?
    /// Whether a line on the terminal shows the progress.
    public var isProgressShown: Bool
    /// Where the service that is started runs, if there are several processors.
    public var placement = Placement.oneProcessor

    /// Where the service that is started runs.
    public enum Placement: Sendable {
        /// On the first processor, and the load on the last.
        case oneProcessor
        /// On all, and the load too.
        case allProcessors
    }

    /// Options of a run.
    public init(
        target: BenchTarget, seed: UInt64, serverKey: String? = nil, isProgressShown: Bool = true
    ) {
        self.target = target
        self.seed = seed
        self.serverKey = serverKey
        self.isProgressShown = isProgressShown
    }
}

/// The service of a run and the load on it.
final class Bench {
    let load: Load
    let child: ChildServer?
    let progress: ProgressLine
    private let process: Int32?

    /// Starts the service or connects to it. `connections` is the most open connections. If clients
    /// are `isDrained`, no keep-alive is sent or expected: the answer to one would be counted.
    init(
        _ options: BenchOptions, connections: Int, isDrained: Bool = false,
        serverOptions: [String] = [], program: ChildServer.Program = .service
    ) throws(BenchError) {
        let serverOptions = serverOptions + (isDrained ? ["--heartbeat", "300"] : [])
        try DescriptorLimit.require(connections)
        progress = ProgressLine(isShown: options.isProgressShown)
        switch options.target {
        case .child(let executable, let more):
            let processors =
                options.placement == .oneProcessor ? Processors.allowed() : []
            let child = try ChildServer(
                executable: executable, program: program, options: serverOptions + more,
                processor: processors.count > 1 ? processors.first : nil)
            do throws(BenchError) {
                try child.start(port: 0)
                let address = try child.waitUntilReady(seconds: 60)
                if processors.count > 1, let last = processors.last {
                    try? Processors.pin(process: 0, to: last)
                }
                load = try Load(target: address, seed: options.seed, progress: progress)
            } catch {
                child.end()
                throw error
            }
            self.child = child
            process = nil
        case .running(let address, let process, let tls):
            child = nil
            self.process = process
            load = try Load(target: address, seed: options.seed, progress: progress)
            if let tls { load.tls = try LoadTLS(tls) }
        }
        load.serverKey = options.serverKey
        if isDrained { load.keepAliveSeconds = .infinity }
        load.watchInterrupts()
    }

    /// The resources that the service has used so far; zeros if unknown.
    func sample() -> ProcessSample? {
        guard let process = child?.process ?? process else { return nil }
        return ProcessSample(process: process)
    }

    /// Closes all connections, and stops the service if the run has started it.
    func end() {
        progress.clear()
        load.close()
        child?.end()
    }
}
