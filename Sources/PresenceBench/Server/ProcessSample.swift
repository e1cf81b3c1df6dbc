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

    /// CPU time by the name of the thread; threads of the same name are added up.
    var threadSeconds: [String: Double] = [:]

    var cpuSeconds: Double { userSeconds + systemSeconds }

    /// Reads the counters; nil if the process has ended or is another user's.
    init?(process: Int32) {
        guard let times = Self.times("/proc/\(process)/stat") else { return nil }
        userSeconds = times.user
        systemSeconds = times.system
        let tasks = "/proc/\(process)/task"
        for task in (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? [] {
            // It may have ended meanwhile.
            guard let times = Self.times("\(tasks)/\(task)/stat") else { continue }
            threadSeconds[times.name, default: 0] += times.user + times.system
        }
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

    /// The CPU times in seconds, and the name, in a file of `stat`.
    private static func times(
        _ path: String
    ) -> (name: String, user: Double, system: Double)? {
        // The name is in parentheses and may contain any character.
        guard let stat = text(path), let begin = stat.firstIndex(of: "("),
            let end = stat.lastIndex(of: ")"), begin < end
        else { return nil }
        let fields = stat[end...].split(separator: " ")
        guard fields.count > 14, let user = Double(fields[12]), let system = Double(fields[13])
        else { return nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        let name = String(stat[stat.index(after: begin)..<end])
        return (name, user / ticks, system / ticks)
    }

    private static func text(_ path: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
