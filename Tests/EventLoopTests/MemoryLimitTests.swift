import Testing

@testable import EventLoop

@Suite struct `The limit on memory` {
    private static let machineBytes: UInt64 = 16 << 30
    private static let unified = "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
    private static let memory =
        "35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 master:2 - cgroup cgroup rw,memory\n"

    private func least(
        _ cgroup: String, _ mounts: String, _ files: [String: String]
    ) -> MemoryLimit {
        MemoryLimit.least(
            machineBytes: Self.machineBytes, groups: ControlGroups(cgroup: cgroup, mounts: mounts)
        ) { files[$0] }
    }

    private func limit(_ bytes: UInt64, _ path: String, _ file: String) -> MemoryLimit {
        MemoryLimit(bytes: bytes, source: .group(path, file: file))
    }

    private let machine = MemoryLimit(bytes: Self.machineBytes, source: .machine)

    @Test func `is the machine's where no group has one`() {
        #expect(least("", "", [:]) == machine)
        #expect(least("0::/a\n", Self.unified, ["/sys/fs/cgroup/a/memory.max": "max\n"]) == machine)
        let none = ["/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n"]
        #expect(least("4:memory:/a\n", Self.memory, none) == machine)
    }

    @Test func `is that of the own group, or of one above`() {
        var files = [
            "/sys/fs/cgroup/a.slice/b.service/memory.max": "300000000\n",
            "/sys/fs/cgroup/a.slice/b.service/memory.high": "max\n",
            "/sys/fs/cgroup/a.slice/memory.max": "400000000\n",
        ]
        let own = "0::/a.slice/b.service\n"
        #expect(
            least(own, Self.unified, files)
                == limit(300_000_000, "/a.slice/b.service", "memory.max"))
        files["/sys/fs/cgroup/a.slice/b.service/memory.high"] = "250000000\n"
        #expect(
            least(own, Self.unified, files)
                == limit(250_000_000, "/a.slice/b.service", "memory.high"))
        files["/sys/fs/cgroup/a.slice/memory.max"] = "200000000\n"
        #expect(least(own, Self.unified, files) == limit(200_000_000, "/a.slice", "memory.max"))
        files["/sys/fs/cgroup/memory.max"] = "100000000\n"
        #expect(least(own, Self.unified, files) == limit(100_000_000, "/", "memory.max"))
    }

    @Test func `is found in version 1, alone or beside version 2`() {
        let files = [
            "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "300000000\n",
            "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "200000000\n",
        ]
        let expected = limit(200_000_000, "/a", "memory.limit_in_bytes")
        #expect(least("4:cpu,memory:/a/b\n1:cpu:/x\n", Self.memory, files) == expected)
        let mounts = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" + Self.memory
        #expect(least("9:memory:/a/b\n0::/a/b\n", mounts, files) == expected)
    }

    @Test func `is found in a container`() {
        // With a namespace of its own, the root is the container's group.
        #expect(
            least("0::/\n", Self.unified, ["/sys/fs/cgroup/memory.max": "134217728\n"])
                == limit(134_217_728, "/", "memory.max"))
        // Without one, the group is mounted, and the path is that of the machine.
        let mounts =
            "7 6 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        let files = [
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "134217728\n",
            "/sys/fs/cgroup/memory/sub/memory.limit_in_bytes": "100000000\n",
        ]
        #expect(
            least("4:memory:/docker/abc\n", mounts, files)
                == limit(134_217_728, "/docker/abc", "memory.limit_in_bytes"))
        #expect(
            least("4:memory:/docker/abc/sub\n", mounts, files)
                == limit(100_000_000, "/docker/abc/sub", "memory.limit_in_bytes"))
    }

    @Test(arguments: ["0::/../x\n", "0::/../../x/y\n", "0::/a/../../b\n"])
    func `is the nearest seen by a process that was moved out`(_ cgroup: String) {
        let files = [
            "/sys/fs/cgroup/memory.max": "134217728\n",
            "/sys/fs/cgroup/../x/memory.max": "1\n",
        ]
        #expect(
            least(cgroup, Self.unified, files) == limit(134_217_728, "/", "memory.max"))
    }

    @Test func `is found where the mounted root is above the namespace`() {
        let mounts = "7 6 0:26 /.. /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n"
        #expect(
            least("0::/../x\n", mounts, ["/sys/fs/cgroup/x/memory.max": "134217728\n"])
                == limit(134_217_728, "/../x", "memory.max"))
    }

    @Test func `is looked for at each mount that has the group`() {
        let mounts =
            "7 6 0:26 /b /mnt/b rw - cgroup2 none rw\n8 6 0:26 /a /mnt/a rw - cgroup2 none rw\n"
            + Self.unified
        let another = ["/mnt/b/memory.max": "1\n"]
        for (file, path) in [
            ("/sys/fs/cgroup/memory.max", "/"), ("/mnt/a/memory.max", "/a"),
            ("/mnt/a/x/memory.max", "/a/x"), ("/sys/fs/cgroup/a/x/memory.max", "/a/x"),
        ] {
            let files = another.merging([file: "134217728\n"]) { $1 }
            #expect(least("0::/a/x\n", mounts, files) == limit(134_217_728, path, "memory.max"))
        }
        // Of a group that is nowhere to be seen, another one tells nothing.
        let others = "7 6 0:26 /b /mnt/b rw - cgroup2 none rw\n"
        #expect(least("0::/a/x\n", others, another) == machine)
    }

    @Test func `is found in a path with odd names`() {
        let mounts = #"7 6 0:26 /a\040b /cg\134roup rw - cgroup2 none rw"#
        #expect(
            least("0::/a b/c:d\n", mounts, [#"/cg\roup/c:d/memory.max"#: "134217728\n"])
                == limit(134_217_728, "/a b/c:d", "memory.max"))
    }

    @Test(arguments: ["", "\n\n", "0", "0:", "0::", ":::::", "4:memory:", "x:memory:\\"])
    func `takes whatever the kernel says`(_ cgroup: String) {
        for mounts in ["", "-", " - ", "1 2 3 4 5 6 -", "1 2 3 \\ \\9 6 - cgroup2 x", "a - b c d"] {
            #expect(least(cgroup, mounts, [:]) == machine)
        }
    }

    @Test func `is never zero`() {
        #expect(
            least("0::/\n", Self.unified, ["/sys/fs/cgroup/memory.max": "0\n"])
                == limit(1, "/", "memory.max"))
    }

    @Test func `can be read`() {
        #expect(MemoryLimit.current().bytes > 1 << 20)
    }
}
