internal import CLibUV
internal import Glibc

/// The least limit on the memory of this process.
public struct MemoryLimit: Equatable, Sendable {
    /// In bytes; at least 1.
    public let bytes: UInt64
    /// What sets it.
    public let source: Source

    /// What limits memory.
    public enum Source: Equatable, Sendable {
        case machine
        /// A control group, of the process or above it. `file` is `memory.max`, `memory.high` or
        /// `memory.limit_in_bytes`; `group` is the path of the group as the process sees it, such
        /// as `/system.slice`.
        case group(String, file: String)
    }

    /// A limit.
    public init(bytes: UInt64, source: Source) {
        self.bytes = bytes
        self.source = source
    }

    /// The limit now: that of the machine, or the least of the control groups.
    ///
    /// Reads some files in /proc and /sys: some hundred microseconds.
    public static func current() -> MemoryLimit {
        let machine = uv_get_total_memory()
        return least(
            machineBytes: machine == 0 ? .max : machine,
            groups: ControlGroups(
                cgroup: contents(of: "/proc/self/cgroup") ?? "",
                mounts: contents(of: "/proc/self/mountinfo") ?? ""),
            contents: contents)
    }

    /// The least of the limit of the machine and those of control groups, of which `contents`
    /// returns files, or nil for one that does not exist.
    static func least(
        machineBytes: UInt64, groups: ControlGroups, contents: (String) -> String?
    ) -> MemoryLimit {
        var least = MemoryLimit(bytes: max(1, machineBytes), source: .machine)
        for group in groups.all {
            for file in group.hierarchy.limitFiles {
                // `max`, or what a kernel of version 1 says for none: more than any machine has.
                guard let text = contents("\(group.directory)/\(file)"),
                    let bytes = UInt64(text.prefix { $0 != "\n" }), bytes < least.bytes
                else { continue }
                least = MemoryLimit(
                    bytes: max(1, bytes), source: .group(group.path, file: file))
            }
        }
        return least
    }

    /// The contents of a small file; nil if it cannot be read.
    private static func contents(of path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0, bytes.count < bytesMax else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What is read of a file: more mounts than a machine has.
    private static let bytesMax = 16 << 20
}

/// The control groups that limit the memory of a process: its own, and each above it that it sees.
struct ControlGroups: Equatable {
    /// From the process's own group upwards, in each hierarchy.
    private(set) var all: [ControlGroup] = []

    /// Reads the contents of `/proc/self/cgroup` and `/proc/self/mountinfo`: see `cgroups(7)` and
    /// `proc_pid_mountinfo(5)`.
    init(cgroup: String, mounts: String) {
        let all = cgroupMounts(mounts)
        for line in cgroup.parts("\n") {
            guard let (hierarchy, path) = Self.membership(line) else { continue }
            // A mount may show some of the groups only, or be hidden by another one.
            let mounts = all.filter { $0.hierarchy == hierarchy }
            let fitting = mounts.filter { $0.contains(path) }
            // A process that was moved out of what is mounted is limited by what it does not see;
            // the root of its namespace is the nearest that it does.
            let shown = fitting.isEmpty ? mounts.filter(\.isOfNamespace) : fitting
            for mount in shown { add(path, under: mount) }
        }
    }

    /// `4:memory,cpu:/GROUP`, or `0::/GROUP` for version 2; a path may contain colons. Nil for a
    /// hierarchy that does not limit memory.
    private static func membership(
        _ line: String
    ) -> (hierarchy: ControlGroup.Hierarchy, path: [String])? {
        let fields = line.parts(":", max: 3)
        guard fields.count == 3 else { return nil }
        let path = pathNames(fields[2])
        if fields[0] == "0", fields[1].isEmpty { return (.unified, path) }
        return fields[1].parts(",").contains("memory") ? (.memory, path) : nil
    }

    /// Adds the groups from `path` up to the root of the mount.
    private mutating func add(_ path: [String], under mount: Mount) {
        var names = mount.contains(path) ? path.dropFirst(mount.root.count) : []
        while true {
            all.append(
                ControlGroup(
                    hierarchy: mount.hierarchy, path: joined(mount.root + names),
                    directory: mount.point + (names.isEmpty ? "" : joined(Array(names)))))
            guard !names.isEmpty else { return }
            names.removeLast()
        }
    }
}

/// A control group.
struct ControlGroup: Equatable {
    let hierarchy: Hierarchy
    /// As the process sees it: `/` is the root of its namespace.
    let path: String
    /// Where its files are.
    let directory: String

    enum Hierarchy: Equatable {
        /// Version 2.
        case unified
        /// That of the memory controller of version 1.
        case memory

        /// The files with limits, each a number of bytes or, in version 2, `max`.
        var limitFiles: [String] {
            switch self {
            case .unified: ["memory.max", "memory.high"]
            case .memory: ["memory.limit_in_bytes"]
            }
        }
    }
}

/// A mounted hierarchy of control groups that can limit memory.
private struct Mount {
    let hierarchy: ControlGroup.Hierarchy
    /// The names of the group that is mounted and of those above it.
    let root: [String]
    let point: String

    /// `36 35 0:26 ROOT POINT OPTIONS [OPTIONAL…] - TYPE SOURCE OPTIONS`; nil for anything else.
    init?(_ line: String) {
        let fields = line.parts(" ")
        guard let dash = fields.dropFirst(6).firstIndex(of: "-"), fields.count > dash + 3 else {
            return nil
        }
        switch fields[dash + 1] {
        case "cgroup2": hierarchy = .unified
        case "cgroup" where fields[dash + 3].parts(",").contains("memory"): hierarchy = .memory
        default: return nil
        }
        root = pathNames(unescaped(fields[3]))
        point = unescaped(fields[4])
    }

    /// Whether this is the root of the process's namespace, or above it.
    var isOfNamespace: Bool { root.allSatisfy { $0 == ".." } }

    /// Whether a group is mounted here.
    func contains(_ path: [String]) -> Bool {
        path.starts(with: root) && !path.dropFirst(root.count).contains("..")
    }
}

private func cgroupMounts(_ mountinfo: String) -> [Mount] {
    mountinfo.parts("\n").compactMap { Mount($0) }
}

private func pathNames(_ path: String) -> [String] { path.parts("/").filter { !$0.isEmpty } }

private func joined(_ names: [String]) -> String { "/" + names.joined(separator: "/") }

/// The kernel writes a space, a tab, a line feed and a backslash in a path as `\040`.
private func unescaped(_ field: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(field.utf8)[...]
    while let byte = rest.popFirst() {
        let digits = String(decoding: rest.prefix(3), as: UTF8.self)
        if byte == UInt8(ascii: "\\"), digits.utf8.count == 3, let code = UInt8(digits, radix: 8) {
            bytes.append(code)
            rest = rest.dropFirst(3)
        } else {
            bytes.append(byte)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

extension String {
    /// What is between separators, at most `max` parts. Bytes are compared: a letter may combine
    /// with the separator before it.
    fileprivate func parts(_ separator: Unicode.Scalar, max: Int = .max) -> [String] {
        utf8.split(
            separator: UInt8(ascii: separator), maxSplits: max - 1,
            omittingEmptySubsequences: false
        ).map { String(decoding: $0, as: UTF8.self) }
    }
}
