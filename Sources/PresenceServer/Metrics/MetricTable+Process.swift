import PrometheusText

// Metrics of the loops and of the process.

extension MetricTable {
    static let process: [Metric] = [
        Metric(histogram: "porchlight_loop_lag_seconds", "Timer lag of connection loops.") {
            $0.sum(\.times.lag)
        },
        Metric(histogram: "porchlight_turn_seconds", "Duration of turns of connection loops.") {
            $0.sum(\.times.turns)
        },
        Metric(
            ofLoops: .gauge, "porchlight_loop_connections", "Open connections of a connection loop."
        ) { $0.connections },
        Metric(
            ofLoops: .counter, "porchlight_loop_cpu_seconds_total",
            "CPU time used by the thread of a connection loop.", in: .microseconds
        ) { $0.processorMicroseconds },
        Metric(
            .counter, "porchlight_engine_cpu_seconds_total",
            "CPU time used by the thread of the engine, which loop 0 shares if it is the only one.",
            in: .microseconds
        ) { $0.host.processorMicroseconds },
        Metric(
            .counter, "porchlight_engine_input_held_seconds_total",
            "Time in which the engine took no input because a connection loop was full.",
            in: .microseconds
        ) { $0.count(\.inputHeldMilliseconds) * 1_000 },
        Metric(
            .gauge, "porchlight_loops_stalled",
            "Connection loops that are stalled and not waited for.",
            stats: .loopsStalled, top: .gauge(.loopsStalled)
        ) { $0.host.stalledLoops },
        Metric(
            information: "porchlight_build_info", "Always 1; the label contains the version.",
            label: "version"
        ) { $0.host.configuration.version },
        Metric(
            .gauge, "porchlight_uptime_seconds", "Time since the service started.",
            in: .microseconds
        ) { Int(clamping: $0.host.uptimeMilliseconds) * 1_000 },
        Metric(
            .counter, "process_cpu_seconds_total", "CPU time used by the process.",
            in: .microseconds, top: .gauge(.processorMicroseconds)
        ) { $0.process.processorMicroseconds },
        Metric(
            .gauge, "process_resident_memory_bytes", "Resident memory of the process.",
            top: .gauge(.memoryBytes)
        ) { $0.process.memoryBytes },
        Metric(
            .gauge, "porchlight_memory_limit_bytes",
            "Memory above which logins and subscriptions are rejected: memory-bytes-max."
        ) { $0.process.memoryBytesMax },
        Metric(
            .counter, "porchlight_memory_returns_total",
            "Times that free memory was returned to the kernel."
        ) { $0.count(\.memoryReturns) },
        Metric(
            .gauge, "process_start_time_seconds",
            "Start time of the service, in seconds since 1970.", in: .microseconds
        ) { Int(clamping: $0.host.startMilliseconds) * 1_000 },
    ]
}
