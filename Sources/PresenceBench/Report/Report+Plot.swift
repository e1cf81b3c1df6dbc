import Foundation

// The percentiles of each distribution as SVG. Both axes are logarithmic, since what matters is
// in the tail: every decade to the right is one nine more.

extension Report {
    private static let width = 800.0
    private static let height = 420.0
    private static let left = 70.0
    private static let bottom = 50.0
    private static let nines = 5.0
    private static let colours = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"]

    /// The distributions as a drawing.
    public var plot: String {
        let all = latencies.filter { $0.values.count > 0 }
        let highest = all.map { $0.values.maxMilliseconds }.max() ?? 1
        let lowest = all.map { $0.values.milliseconds(percentile: 1) }.min() ?? 0.001
        let floorDecade = floor(log10(max(lowest, 0.000_1)))
        let decades = max(1, ceil(log10(max(highest, 0.001))) - floorDecade)
        var parts = [
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(Int(Self.width)) "#
                + #"\#(Int(Self.height))" font-family="sans-serif" font-size="12">"#,
            #"<rect width="100%" height="100%" fill="white"/>"#,
            text(Self.width / 2, 18, "porchlight bench \(scenario), seed \(seed)", "middle"),
        ]
        parts += grid(floorDecade, decades)
        for (number, entry) in all.enumerated() {
            let colour = Self.colours[number % Self.colours.count]
            let points = curve(entry.values).map { share, milliseconds in
                let x = Self.x(share)
                let y = Self.y(milliseconds, floorDecade, decades)
                return String(format: "%.1f,%.1f", x, y)
            }
            parts.append(
                #"<polyline fill="none" stroke="\#(colour)" stroke-width="2" "#
                    + #"points="\#(points.joined(separator: " "))"/>"#)
            parts.append(
                text(Self.left + 12, 45 + 16 * Double(number), entry.name, "start", colour))
        }
        return (parts + ["</svg>\n"]).joined(separator: "\n")
    }

    /// Shares below which, and the milliseconds.
    private func curve(_ values: Latencies) -> [(Double, Double)] {
        stride(from: 0.0, through: Self.nines, by: 0.05).map { nines in
            let share = 1 - pow(10, -nines)
            return (share, values.milliseconds(percentile: share * 100))
        }
    }

    private func grid(_ floorDecade: Double, _ decades: Double) -> [String] {
        var parts: [String] = []
        for (share, label) in [
            (0.0, "0"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %"),
            (0.99999, "99.999 %"),
        ] {
            let x = Self.x(share)
            parts.append(line(x, 30, x, Self.height - Self.bottom))
            parts.append(text(x, Self.height - Self.bottom + 18, label, "middle"))
        }
        for decade in 0...Int(decades) {
            let milliseconds = pow(10, floorDecade + Double(decade))
            let y = Self.y(milliseconds, floorDecade, decades)
            parts.append(line(Self.left, y, Self.width - 20, y))
            parts.append(text(Self.left - 6, y + 4, String(format: "%g ms", milliseconds), "end"))
        }
        return parts
    }

    private static func x(_ share: Double) -> Double {
        left + (width - left - 40) * min(-log10(1 - min(share, 0.999_999)) / nines, 1)
    }

    private static func y(_ milliseconds: Double, _ floorDecade: Double, _ decades: Double)
        -> Double
    {
        let part = (log10(max(milliseconds, 0.000_1)) - floorDecade) / decades
        return height - bottom - (height - bottom - 30) * max(0, min(part, 1))
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
        String(
            format: #"<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="silver"/>"#, x1, y1, x2,
            y2)
    }

    private func text(
        _ x: Double, _ y: Double, _ words: String, _ anchor: String, _ colour: String = "#333"
    ) -> String {
        String(format: #"<text x="%.1f" y="%.1f" "#, x, y)
            + #"text-anchor="\#(anchor)" fill="\#(colour)">\#(words)</text>"#
    }
}
