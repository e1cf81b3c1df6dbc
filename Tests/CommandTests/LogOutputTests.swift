import Foundation
import Testing

@testable import porchlight

/// A pipe whose ends do not block.
private struct Pipe: ~Copyable {
    private(set) var reader: CInt
    let writer: CInt

    init() {
        var ends: [CInt] = [0, 0]
        precondition(unsafe pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        (reader, writer) = (ends[0], ends[1])
    }

    mutating func closeReader() {
        close(reader)
        reader = -1
    }

    /// Writes until it accepts no more.
    func fill() {
        let page = [UInt8](repeating: 0x78, count: 4_096)
        while unsafe write(writer, page, page.count) > 0 {}
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// The lines in it, which are taken.
    func lines() -> [Substring] {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = unsafe read(reader, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
    }
}

@Suite struct `The output of the log` {
    @Test func `drops lines that are not accepted, and says how many`() {
        let pipe = Pipe()
        let output = LogOutput(pipe.writer)
        output.write("first")
        #expect(pipe.lines() == ["first"])
        pipe.fill()
        for _ in 0..<3 { output.write("dropped") }
        #expect(output.dropped == 3)
        #expect(pipe.lines().allSatisfy { $0.hasPrefix("xxx") })
        output.write("next")
        let lines = pipe.lines()
        #expect(lines.count == 2)
        #expect(lines.first?.hasSuffix("log lines were dropped count=3") == true)
        #expect(lines.last == "next")
        output.write("last")
        #expect(pipe.lines() == ["last"])
        #expect(output.dropped == 3)
    }

    @Test func `cuts long lines`() {
        let pipe = Pipe()
        LogOutput(pipe.writer).write(String(repeating: "é", count: 5_000))
        let lines = pipe.lines()
        #expect(lines.count == 1)
        #expect(lines.first?.utf8.count == LogOutput.lineBytesMax - 2)
        #expect(lines.first?.allSatisfy { $0 == "é" } == true)
    }

    @Test func `drops lines when its reader has ended`() {
        signal(SIGPIPE, SIG_IGN)
        var pipe = Pipe()
        let output = LogOutput(pipe.writer)
        pipe.closeReader()
        output.write("first")
        #expect(output.dropped == 1)
    }
}
