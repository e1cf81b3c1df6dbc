import Foundation
import Testing

@testable import EventLoop

@Suite struct `A child process` {
    private func shell(_ script: String) throws -> ChildProcess {
        try ChildProcess(["/bin/sh", "-c", script], environment: ["GREETING": "hello"])
    }

    /// All that it writes until its end.
    private func output(of child: ChildProcess) -> String {
        var text = ""
        while true {
            switch child.read(withinMilliseconds: 1_000) {
            case .text(let more): text += more
            case .nothing: break
            case .end: return text
            }
        }
    }

    @Test func `has the environment that it is given, and no other`() throws {
        let child = try shell("echo $GREETING, ${PATH_OF_NONE-nobody} ${HOME-nowhere}; exit 7")
        #expect(output(of: child) == "hello, nobody nowhere\n")
        #expect(child.wait() == .exited(7))
    }

    @Test func `runs until it is ended, by whatever signal`() throws {
        for (number, end) in [
            (SIGTERM, ChildProcess.End.signal(SIGTERM)), (SIGKILL, .killed),
        ] {
            // It reads what is never written.
            let child = try shell("echo ready; read line")
            while child.read(withinMilliseconds: 1_000) != .text("ready\n") {}
            #expect(child.read(withinMilliseconds: 0) == .nothing)
            #expect(child.endIfAny() == nil)
            child.kill(number)
            #expect(output(of: child) == "")
            #expect(child.wait() == end)
        }
    }

    @Test func `has an input that ends with the one who has started it`() throws {
        var first: ChildProcess? = try shell("read line")
        // It does not have the other end of the input of the first.
        let second = try shell("echo ready; read line")
        while second.read(withinMilliseconds: 1_000) != .text("ready\n") {}
        let identifier = try #require(first?.identifier)
        first = nil
        var status: CInt = 0
        #expect(waitpid(identifier, &status, 0) == identifier)
        second.kill(SIGKILL)
        #expect(second.wait() == .killed)
    }

    @Test func `has no descriptors but the standard ones`() throws {
        // Without FD_CLOEXEC, as a library may open it.
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let child = try shell(
            "for n in \(ends[0]) \(ends[1]); do test -e /proc/$$/fd/$n && echo $n; done")
        #expect(output(of: child) == "")
        _ = child.wait()
    }

    @Test func `is not there if its program is not`() {
        #expect(throws: UVError(code: -ENOENT, operation: "posix_spawn")) {
            _ = try ChildProcess(["/nonexistent/program"], environment: [:])
        }
    }
}
