import Foundation
import Testing

/// Rules for the source code, as tests. Each finding says where it is and what to write instead.
@Suite struct `Source rules` {
    /// Finds lines of Swift that contain `text`, comments aside.
    func findings(
        of text: String, _ advice: String, where isMeant: (SourceTree.File) -> Bool
    ) -> [Finding] {
        SourceTree.swift.filter { isMeant($0) && $0.contains(text) }.flatMap { file in
            file.lines.indices.compactMap { number in
                let code = file.lines[number].components(separatedBy: "//")[0]
                return code.contains(text) ? Finding(file: file, line: number, advice: advice) : nil
            }
        }
    }

    @Test(arguments: [
        ("CBench", ["PresenceBench"]), ("CCurl", ["OutgoingHTTP"]),
        ("CEmbeddedFiles", ["PresenceHTTP"]), ("CExpat", ["XML"]),
        ("CLibUV", ["EventLoop"]), ("COpenSSL", ["TLSSessions"]),
        ("CSimdJSON", ["PresenceWire"]), ("GRDB", ["PresenceStore"]),
        ("Crypto", ["Passwords", "PresenceHTTP", "PresenceTokens", "PresenceWebhooks", "WebPush"]),
        ("CryptoExtras", ["Passwords"]),
        (
            "Foundation",
            [
                "CommandSupport", "PresenceStore", "PresenceClient", "PresenceBench",
                "PresenceTokens", "WebPush", "porchlight", "porchlight-bench",
            ]
        ),
        ("JWTKit", ["PresenceTokens"]),
        (
            "Glibc",
            [
                "EventLoop", "HTTPValues", "OutgoingHTTP", "PresenceBench", "PresenceClient",
                "PresenceHTTP", "PresenceStore",
            ]
        ),
        ("ArgumentParser", ["CommandSupport", "PresenceBench", "porchlight", "porchlight-bench"]),
    ])
    func `only some modules import these libraries`(library: String, modules: [String]) {
        let found = findings(of: "import \(library)", "only \(modules) may import \(library)") {
            $0.isSource && !modules.contains($0.module)
        }
        #expect(found.isEmpty, "\(found)")
    }

    @Test(arguments: [
        "Date()", "ContinuousClock", "SuspendingClock", "DispatchTime.now", "clock_gettime",
        "uv_hrtime", "uv_now",
    ])
    func `only the loop and the command read clocks`(call: String) {
        // The store may, to say how long its commits take; nothing that it stores depends on it.
        let timed = call == "DispatchTime.now" ? ["PresenceStore"] : []
        let modules = ["EventLoop", "CommandSupport", "porchlight", "porchlight-bench"] + timed
        let found = findings(of: call, "take the time as an argument") {
            $0.isSource && !modules.contains($0.module)
        }
        #expect(found.isEmpty, "\(found)")
    }

    @Test(arguments: [
        // A child task of a group runs where its parent does.
        " Task {", "(Task {", "Task.detached", "Task.sleep", "Task.immediate", ".global(",
        ".singleton", "defaultEventLoopGroup", "attributes: .concurrent",
    ])
    func `nothing runs on the shared pool of the runtime`(text: String) {
        // It ends the process when descriptors run out, as Sources/TaskLoops says.
        let found = findings(of: text, "use a TaskLoop") { $0.isSource }
        #expect(found.isEmpty, "\(found)")
    }

    @Test(arguments: [
        ("try!", "handle the error"), ("fatalError(", "use precondition, with a sentence"),
        ("as!", "use as? and handle nil"),
        ("FIXME", "fix it, or describe the limitation in the docs"),
        ("TODO", "do it, or say in the docs that it is not done"),
        ("-Ounchecked", "keep the checks"),
    ])
    func `some things are not written here`(text: String, advice: String) {
        let found = findings(of: text, advice) { $0.isSource }
        #expect(found.isEmpty, "\(found)")
    }

    @Test(arguments: [
        "case .native", "case .webSocket:", "case .webSocket(", "case .webSocket ", "= .webSocket",
        "== .webSocket",
    ])
    func `the codecs and the clients alone distinguish the protocols`(text: String) {
        let places = [
            "Sources/PresenceWire/Frames/Framing.swift",
            "Sources/PresenceWire/Frames/InputSplitter.swift", "Sources/PresenceServer/Clients/",
        ]
        let found = findings(of: text, "ask the framing, the splitter or the clients") { file in
            file.isSource && !places.contains { file.path.hasPrefix($0) }
        }
        #expect(found.isEmpty, "\(found)")
    }

    @Test(arguments: ["sleep(", "Task.sleep", "usleep", "Task.yield"])
    func `tests neither sleep nor spin`(call: String) {
        let found = findings(of: call, "wait for what is to happen") {
            !$0.isSource && $0.module != "SourceRulesTests"
        }
        #expect(found.isEmpty, "\(found)")
    }

    @Test func `files have at most 500 lines of at most 100 columns`() {
        for file in SourceTree.swift + SourceTree.shims {
            #expect(file.lines.count <= 500, "\(file.path): split it by aspect")
            for (number, line) in file.lines.enumerated() {
                #expect(line.count <= 100, "\(file.path):\(number + 1): break the line")
                #expect(!line.contains("\t"), "\(file.path):\(number + 1): indent by spaces")
            }
        }
    }

    @Test func `the name of an error type, and of no other, ends in Error`() {
        // Responses of the protocol first; see CONTRIBUTING.md.
        let exceptions = ["Rejection", "PushRejection"]
        for file in SourceTree.swift {
            for (number, line) in file.lines.enumerated() {
                guard let declaration = Declaration(line), declaration.isType else { continue }
                let name = declaration.name
                let isError = declaration.rest.contains(/[:,] *Error\b/)
                #expect(
                    isError == name.hasSuffix("Error") || exceptions.contains(String(name)),
                    "\(file.path):\(number + 1): \(name)")
            }
        }
    }

    @Test func `functions have at most 70 lines`() {
        for file in SourceTree.swift {
            var start: (line: Int, indent: Int)?
            for (number, line) in file.lines.enumerated() {
                let indent = line.prefix { $0 == " " }.count
                let code = line.dropFirst(indent)
                if code.contains("func "), !code.hasPrefix("//"), start == nil {
                    start = (number, indent)
                } else if let function = start, indent == function.indent, code.hasPrefix("}") {
                    let length = number - function.line
                    #expect(length <= 70, "\(file.path):\(function.line + 1): split it")
                    start = nil
                }
            }
        }
    }

    @Test func `escapes from the compiler's checks say why they are safe`() {
        var count = 0
        for file in SourceTree.swift {
            for (number, line) in file.lines.enumerated()
            where file.module != "SourceRulesTests"
                && (line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)"))
            {
                let near = file.lines[max(0, number - 4)..<min(file.lines.count, number + 4)]
                #expect(
                    near.contains { $0.contains("SAFETY:") },
                    "\(file.path):\(number + 1): add a // SAFETY: line")
                if file.isSource { count += 1 }
            }
        }
        #expect(count <= 7, "too many escapes in Sources")
    }

    @Test func `long files open with what they are about`() {
        for file in SourceTree.swift where file.isSource && file.lines.count > 150 {
            #expect(
                file.lines.prefix(20).contains { $0.hasPrefix("//") },
                "\(file.path): say what the file is about")
        }
    }

    @Test func `pages have one title`() {
        for page in SourceTree.pages {
            var isCode = false
            var titles = 0
            for line in page.lines {
                if line.hasPrefix("```") { isCode.toggle() }
                if !isCode, line.hasPrefix("# ") { titles += 1 }
            }
            #expect(titles == 1, "\(page.path) has \(titles) titles")
        }
    }

    @Test func `there are files to check`() {
        #expect(SourceTree.swift.count > 50)
        #expect(SourceTree.pages.count >= 3)
    }
}
