import EventLoop
import Foundation
import PresenceClient
import PresenceServer
import Testing

/// What `docs/PROTOCOL.md` shows is what the service does.
@Suite struct `The protocol page` {
    let page: ProtocolPage

    init() throws {
        page = try ProtocolPage()
    }

    @Test func `the worked session prints what the page says`() throws {
        let program = try #require(page.blocks("python").first).text
        let shown = try #require(page.blocks("console").first).unfolded()
        try withService { service in
            let printed = try run(program, against: service).split(separator: "\n").map(String.init)
            try #require(printed.count == shown.count, "\(printed)")
            for (line, text) in zip(shown, printed) {
                #expect(isShown(text, as: line.text), "docs/PROTOCOL.md:\(line.number): \(text)")
            }
        }
    }

    @Test func `the dumped frames are what is sent`() throws {
        let dumps = try page.blocks("hex").map { try $0.dumpedBytes() }
        // The others are of WebSocket: Tests/Conformance/test_websocket.py.
        try #require(dumps.count == 4)
        for dump in dumps.prefix(2) {
            let length = dump.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            #expect(length == dump.count - 4)
        }
        try withService { service in
            let bob = try service.login("bob")
            try bob.sendRaw(dumps[0])
            let answer = try bob.nextFrame(withinMilliseconds: bob.timeoutMilliseconds)
            #expect(answer == Array(dumps[1].dropFirst(4)))
        }
    }

    @Test func `the examples are one conversation that the service has`() throws {
        let steps = try page.steps()
        #expect(steps.count >= 70, "examples are missing")
        let token = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJnaW5hIiwiZXhwIjoxNzk1MjYwMzE0fQ.R2luYQ"
        let next = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJnaW5hIiwiZXhwIjoxNzk1MjYwOTE0fQ.QWdhaW4"
        try withService({
            $0.authenticator = Credentials(tokens: [token: "gina", next: "gina"])
        }) { service in
            let conversation = Conversation(with: service)
            for step in steps { try conversation.take(step) }
            try conversation.end()
        }
    }

    @Test func `what is shown as JSON is JSON`() throws {
        let blocks = page.blocks("json")
        #expect(!blocks.isEmpty)
        for block in blocks { _ = try JSON(parsing: Array(block.text.utf8)) }
    }

    @Test func `a line that differs is noticed`() {
        #expect(isShown(#"{"seq":7,"id":"000000000005K"}"#, as: #"{"seq":8,"id":"000000000005M"}"#))
        #expect(!isShown(#"{"seq":7,"id":5}"#, as: #"{"seq":8,"id":6}"#))
        #expect(!isShown(#"{"value":1}"#, as: #"{"value":2}"#))
        #expect(isShown(#"{"value":1,"cause":"login"}"#, as: #"{"value":1,…"#))
        #expect(!isShown(#"{"value":2,"cause":"login"}"#, as: #"{"value":1,…"#))
    }

    /// What the program prints; it gives up by itself when nothing comes.
    private func run(_ program: String, against service: RunningService) throws -> String {
        let file = service.directory + "/session.py"
        try program.write(toFile: file, atomically: true, encoding: .utf8)
        let output = Pipe()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-X", "utf8", file, service.address.host, "\(service.address.port)",
        ]
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: printed, as: UTF8.self)
    }
}

/// Plays the examples of the page, one connection for each name in them.
private final class Conversation {
    /// Seconds that may pass at once without a heartbeat being missed.
    private static let strideSeconds = 20

    private let service: RunningService
    private var clients: [String: Client] = [:]
    /// What has come while a sign of life was waited for.
    private var received: [String: [String]] = [:]
    /// The last place in the feed that each was told.
    private var cursors: [String: String] = [:]
    /// The last message that each was sent.
    private var messages: [String: String] = [:]

    init(with service: RunningService) {
        self.service = service
    }

    func take(_ step: Step) throws {
        let place: Comment = "docs/PROTOCOL.md:\(step.line)"
        switch step.kind {
        case .send(let body):
            if clients[step.name] == nil { clients[step.name] = try service.connect() }
            // The cursor on the page stands for the one that was sent, and so does the message.
            let whole = body.replacing(
                /[0-9A-Z]{26}/, with: cursors[step.name] ?? "none", maxReplacements: 1
            ).replacing(#/"id":"[0-9A-Z]{13}"/#, with: messages[step.name] ?? "none")
            try client(step.name).sendFrame(Array(whole.utf8))
        case .receive(let shown):
            let sent = try next(step.name)
            #expect(isShown(sent, as: shown), "\(place): \(sent)")
            if let match = sent.firstMatch(of: /"cursor":"([0-9A-Z]{26})"/) {
                cursors[step.name] = String(match.1)
            }
            if let match = sent.matches(of: /"messages":\[\{("id":"[0-9A-Z]{13}")/).last {
                messages[step.name] = String(match.1)
            }
        case .isClosed:
            #expect(try client(step.name).end(), place)
            clients[step.name] = nil
        case .isLost:
            try lose(step.name)
        case .pass(let seconds):
            try pass(seconds)
        }
    }

    /// Nobody has been sent what the page does not show.
    func end() throws {
        try keepAlive()
        for (name, bodies) in received { #expect(bodies.isEmpty, "to \(name)") }
    }

    private func client(_ name: String) throws -> Client {
        try #require(clients[name], "\(name) is not connected")
    }

    private func next(_ name: String) throws -> String {
        if let first = received[name]?.first {
            received[name]?.removeFirst()
            return first
        }
        return try nextFrame(name)
    }

    private func nextFrame(_ name: String) throws -> String {
        let client = try client(name)
        let body = try client.nextFrame(withinMilliseconds: client.timeoutMilliseconds)
        return String(decoding: try #require(body, "nothing came to \(name)"), as: UTF8.self)
    }

    /// Ends a connection without a word, and waits until the service has noticed.
    private func lose(_ name: String) throws {
        let server = try service.appServer()
        let before = try #require(try server.call("stats")["sessionsConnected"]?.integer)
        try client(name).disconnect()
        clients[name] = nil
        try waitUntil("the connection is noticed to be lost") {
            try server.call("stats")["sessionsConnected"]?.integer == before - 1
        }
        server.disconnect()
    }

    private func pass(_ seconds: Int) throws {
        for start in stride(from: 0, to: seconds, by: Self.strideSeconds) {
            service.pass(seconds: Double(min(Self.strideSeconds, seconds - start)))
            try keepAlive()
        }
    }

    /// Has everybody show that they are there; what comes before the answer is kept.
    private func keepAlive() throws {
        for name in clients.keys.sorted() {
            try client(name).keepAlive()
            while true {
                let body = try nextFrame(name)
                if body.isEmpty { break }
                received[name, default: []].append(body)
            }
        }
    }
}
