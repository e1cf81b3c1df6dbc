import EventLoop
import Foundation
import PresenceClient
import Testing

@testable import porchlight

/// What a log is written to. Its writer blocks when it is full; its reader does not.
private struct Channel: ~Copyable {
    private(set) var reader: CInt
    let writer: CInt

    enum Kind: CaseIterable { case pipe, socket }

    init(_ kind: Kind) {
        var ends: [CInt] = [-1, -1]
        switch kind {
        case .pipe: precondition(unsafe pipe(&ends) == 0)
        case .socket:
            let type = CInt(SOCK_STREAM.rawValue)
            precondition(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
        }
        (reader, writer) = (ends[0], ends[1])
        _ = fcntl(reader, F_SETFL, O_NONBLOCK)
    }

    mutating func closeReader() {
        close(reader)
        reader = -1
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// The lines in it, which are taken, and whether the last one is cut.
    func takeLines() -> (lines: [Substring], isCut: Bool) {
        var (all, bytes): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 1 << 16))
        while case let count = unsafe read(reader, &bytes, bytes.count), count > 0 {
            all += bytes.prefix(count)
        }
        let text = String(decoding: all, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let isCut = lines.last?.isEmpty == false
        return (isCut ? lines : lines.dropLast(), isCut)
    }

    func lines() -> [Substring] { takeLines().lines }
}

@Suite struct `The output of the log` {
    @Test(arguments: Channel.Kind.allCases)
    private func `drops lines that are not accepted, and says how many`(
        kind: Channel.Kind
    ) throws {
        let channel = Channel(kind)
        let output = LogOutput(channel.writer)
        output.write("first")
        #expect(channel.lines() == ["first"])
        // More than there is room for. If it waits, it does so on another thread.
        let line = String(repeating: "x", count: 199)
        let writer = try NamedThread(name: "log") {
            for _ in 0..<10_000 { output.write(line) }
        }
        try #require(writer.join(withinMilliseconds: 60_000), "it waits for the reader")
        let dropped = output.dropped
        // Of the last one, only a part may be accepted.
        let (accepted, isCut) = channel.takeLines()
        let whole = accepted.dropLast(isCut ? 1 : 0)
        #expect(whole.count { $0 == line } == 10_000 - dropped)
        output.write("next")
        let lines = channel.lines()
        #expect(lines.first == "" || !isCut)
        #expect(lines.last == "next")
        // There may have been room for a notice, and not for a line.
        let notices = (whole + lines).filter { $0.contains(" log lines were dropped count=") }
        #expect(notices.reduce(0) { $0 + (Int($1.split(separator: "=")[1]) ?? 0) } == dropped)
        #expect(whole.count + lines.count == 10_000 - dropped + notices.count + (isCut ? 2 : 1))
        output.write("last")
        #expect(channel.lines() == ["last"])
        #expect(output.dropped == dropped)
    }

    @Test func `cuts long lines`() {
        let pipe = Channel(.pipe)
        LogOutput(pipe.writer).write(String(repeating: "é", count: 5_000))
        let lines = pipe.lines()
        #expect(lines.count == 1)
        #expect(lines.first?.utf8.count == LogOutput.lineBytesMax - 2)
        #expect(lines.first?.allSatisfy { $0 == "é" } == true)
    }

    @Test func `writes JSON, also of the lines that it has dropped`() throws {
        let channel = Channel(.pipe)
        let output = LogOutput(channel.writer)
        let line = LogLine(
            milliseconds: 0, level: "notice", label: "porchlight",
            message: String(repeating: "é\"", count: 5_000), values: [:])
        output.write(line)
        #expect(channel.lines().first?.hasPrefix("19") == true)
        output.format = .json
        while output.dropped == 0 { output.write(line) }
        #expect(!channel.takeLines().isCut, "a pipe accepts a line as a whole or not at all")
        output.write(line)
        let lines = channel.lines()
        #expect(lines.count == 2)
        for text in lines {
            #expect(text.utf8.count < LogOutput.lineBytesMax)
            #expect(try JSON(parsing: Array(text.utf8))["level"]?.string != nil)
        }
        let notice = try JSON(parsing: Array(try #require(lines.first).utf8))
        #expect(notice["message"]?.string == "log lines were dropped")
        #expect(notice["count"]?.integer == Int64(output.dropped))
    }

    @Test func `drops lines when its reader has ended`() {
        signal(SIGPIPE, SIG_IGN)
        var pipe = Channel(.pipe)
        let output = LogOutput(pipe.writer)
        pipe.closeReader()
        output.write("first")
        #expect(output.dropped == 1)
    }
}
