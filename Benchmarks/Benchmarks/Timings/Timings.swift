import Benchmark
import Operations

/// The cost of the modules' most frequent operations: time of an operation, and bytes of what is
/// stored. Times are wall-clock, since the tool reads CPU time in ticks of 10 ms.
let benchmarks: @Sendable () -> Void = {
    let bytesEach = BenchmarkMetric.custom(
        "bytes each", polarity: .prefersSmaller, useScalingFactor: false)
    Benchmark.defaultConfiguration = Benchmark.Configuration(
        metrics: [.wallClock, .throughput], scalingFactor: .kilo, maxDuration: .seconds(1))

    // An iteration is a thousand operations, or as many as fit.
    for operation in Operation.all + Operation.slow {
        Benchmark(operation.name) { benchmark in
            let work = operation.make()
            let runs = max(1, benchmark.scaledIterations.count / operation.perRun)
            benchmark.startMeasurement()
            for _ in 0..<runs { work.run() }
        }
    }

    Benchmark(
        "wheel: 10 million timers, all fire in 30 d",
        configuration: .init(
            metrics: [.wallClock, bytesEach], scalingFactor: .one, maxIterations: 1)
    ) { benchmark in
        let timers = Timers(count: 10_000_000)
        benchmark.measurement(bytesEach, Int(timers.bytesEach.rounded()))
        benchmark.startMeasurement()
        blackHole(timers.fireAll())
        benchmark.stopMeasurement()
    }

    Benchmark(
        "wheel: a thousand renewals among 10 million",
        configuration: .init(
            metrics: [.wallClock, bytesEach], scalingFactor: .kilo, maxIterations: 100)
    ) { benchmark in
        let timers = tenMillion
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { timers.renew() }
        benchmark.stopMeasurement()
        benchmark.measurement(bytesEach, Int(timers.bytesEach.rounded()))
    }

    // The disk is whatever the temporary folder is on.
    for requests in [1, 100] {
        Benchmark(
            "store: \(requests) requests of 100 subscriptions in one commit",
            configuration: .init(metrics: [.wallClock], maxDuration: .seconds(2))
        ) { benchmark in
            let store = try StoredSubscriptions()
            defer { store.end() }
            benchmark.startMeasurement()
            for _ in benchmark.scaledIterations { store.commit(requests) }
            benchmark.stopMeasurement()
        }
    }
}

/// Made once: it takes a second.
private nonisolated(unsafe) let tenMillion = Timers(count: 10_000_000)
