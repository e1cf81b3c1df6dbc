import ArgumentParser
import CommandSupport
import EventLoop
import Foundation
import PresenceHTTP

struct DemoVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Try presence out: run a service, and a page with two users.",
        discussion: """
            Prints a link, and serves until ^C. The service is a process of its own, on free ports \
            of 127.0.0.1, and ends with this one. Accounts need no credentials.
            """)

    @Option(help: "Serve the page on this port of 127.0.0.1; 0 is any free one.")
    var port: UInt16 = 8000

    @Option(
        help: ArgumentHelp(
            "Keep the data in this directory; without it, in a temporary one that is removed at "
                + "the end, or by the next demo if this one is killed.",
            valueName: "directory"))
    var data: String?

    func run() throws {
        let interrupts = Interrupts()
        defer { interrupts.end() }
        let directory = try DemoDirectory(data)
        defer { directory.end() }
        let service = DemoService(
            program: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
            options: [
                "--data", directory.path, "--auth", "open", "--log-level", "warning",
                "--push-key", try directory.pushKey(), "--push-subject", "mailto:demo@example.com",
            ])
        let page = try serve { service.kill(whenReady: $0) }
        defer { page.stop() }
        defer { service.end() }
        guard let address = try service.start(until: interrupts) else { return }
        page.begin(for: address)
        try announce("http://\(page.address)/")
        note("^C ends the demo, and its service on \(address).")
        try service.keepRunning(until: interrupts)
    }

    private func serve(
        kill: @escaping @Sendable (@escaping @Sendable (Int64) -> Void) -> Void
    ) throws(CommandError) -> DemoServer {
        do throws(HTTPStartError) {
            return try DemoServer(
                port: Int(port), wallMilliseconds: { Loop.wallMilliseconds() }, kill: kill)
        } catch {
            let cause = error.errorNumber.map { "\(UVError(code: -$0, operation: "bind"))" }
            throw CommandError(
                "Cannot serve the page on 127.0.0.1:\(port) (\(cause ?? error.description)); "
                    + "choose another port with --port.")
        }
    }
}
