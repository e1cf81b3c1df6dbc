import Containers
import PrometheusText
import Testing

@Suite struct `Metrics in the Prometheus text format` {
    func text(_ write: (inout MetricsText) -> Void) -> String {
        var text = MetricsText()
        write(&text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test func `a metric is a help, a type and its samples`() {
        let text = text {
            $0.add(.gauge, "rooms", "Open rooms.", -3)
            $0.begin(.counter, "visits_total", "Visits, by day and hour.")
            $0.sample(1, .init("day", "mon"), .init("hour", "7"))
            $0.sample(.max, .init("day", "tue"), .init("hour", "8"))
        }
        #expect(
            text == """
                # HELP rooms Open rooms.
                # TYPE rooms gauge
                rooms -3
                # HELP visits_total Visits, by day and hour.
                # TYPE visits_total counter
                visits_total{day="mon",hour="7"} 1
                visits_total{day="tue",hour="8"} 9223372036854775807

                """)
    }

    @Test func `nothing is an empty text`() {
        #expect(text { _ in } == "")
    }

    @Test(arguments: [
        ("", ""), ("1.2 \u{e9}\t{},=", "1.2 \u{e9}\t{},="), ("a\"b", #"a\"b"#), ("\\", #"\\"#),
        ("a\nb", #"a\nb"#), ("\"\\\"\n", #"\"\\\"\n"#),
    ])
    func `values of labels are escaped`(value: String, escaped: String) {
        let text = text {
            $0.begin(.gauge, "build", "Always 1.")
            $0.sample(1, .init("version", value))
        }
        #expect(text.hasSuffix("build{version=\"\(escaped)\"} 1\n"))
    }

    @Test(
        arguments: [
            (0, "0"), (1, "0.000001"), (10, "0.00001"), (100_000, "0.1"), (1_000_000, "1"),
            (1_000_001, "1.000001"), (61_250_000, "61.25"), (.max, "18446744073709.551615"),
        ] as [(UInt64, String)])
    func `times are in seconds`(microseconds: UInt64, seconds: String) {
        let text = text {
            $0.begin(.gauge, "uptime_seconds", "Uptime.")
            $0.sample(microseconds: microseconds)
        }
        #expect(text.hasSuffix("\nuptime_seconds \(seconds)\n"))
    }

    @Test func `buckets of a histogram are cumulative`() throws {
        var histogram = DurationHistogram()
        for microseconds: UInt64 in [3, 10, 11, 60_000_000] {
            histogram.observe(microseconds: microseconds)
        }
        let lines = text { $0.add(histogram: "turn_seconds", "Turns.", histogram) }
            .split(separator: "\n")
        #expect(
            lines.prefix(4) == [
                "# HELP turn_seconds Turns.", "# TYPE turn_seconds histogram",
                "turn_seconds_bucket{le=\"0.00001\"} 2", "turn_seconds_bucket{le=\"0.000025\"} 3",
            ])
        #expect(
            lines.suffix(4) == [
                "turn_seconds_bucket{le=\"10\"} 3", "turn_seconds_bucket{le=\"+Inf\"} 4",
                "turn_seconds_sum 60.000024", "turn_seconds_count 4",
            ])
        #expect(lines.count == 2 + DurationHistogram.boundsMicroseconds.count + 3)
    }

    @Test func `a sample needs a metric`() async {
        await #expect(processExitsWith: .failure) {
            var text = MetricsText()
            text.sample(1)
        }
    }
}
