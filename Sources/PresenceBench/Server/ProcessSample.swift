import Foundation
import Glibc

/// The kernel's counters of a process.
struct ProcessSample {
    var userSeconds = 0.0
    var systemSeconds = 0.0
    var residentBytes = 0
    /// Memory shared with other processes is divided among them.
    var proportionalBytes = 0
    /// The peak of the resident memory.
    var peakBytes = 0

    var cpuSeconds: Double { userSeconds + systemSeconds }

    /// Reads the counters; nil if the process has ended or is another user's.
    init?(process: Int32) {
        guard let stat = Self.text("/proc/\(process)/stat"),
            // The name of the program is in parentheses and may contain any character.
            let nameEnd = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[nameEnd...].split(separator: " ")
        guard fields.count > 14, let user = Double(fields[12]), let system = Double(fields[13])
        else { return nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        userSeconds = user / ticks
        systemSeconds = system / ticks
        let memory =
            (Self.text("/proc/\(process)/smaps_rollup") ?? "")
            + (Self.text("/proc/\(process)/status") ?? "")
        for line in memory.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count >= 2, let kilobytes = Int(words[1]) else { continue }
            if words[0] == "Rss:" { residentBytes = kilobytes << 10 }
            if words[0] == "VmHWM:" { peakBytes = kilobytes << 10 }
            if words[0] == "Pss:" { proportionalBytes = kilobytes << 10 }
        }
    }

    private static func text(_ path: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
