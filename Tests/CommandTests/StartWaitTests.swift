import Foundation
import Testing

@testable import porchlight

@Suite struct `The wait of a start` {
    private struct Done: Equatable {
        var hasAll: Bool
        var reports: [String]
        var pauses: [Int]
    }

    /// What a wait does for which something is missing in the first `attempts` attempts, and that
    /// is ended in the pause `endingPause`, from 1.
    private func wait(attempts: Int, endingPause: Int? = nil) -> Done {
        var done = Done(hasAll: false, reports: [], pauses: [])
        var attempt = 0
        let wait = StartWait { seconds in
            done.pauses.append(seconds)
            return done.pauses.count != endingPause
        } report: { missing, seconds in
            done.reports.append("\(missing) \(seconds)")
        }
        done.hasAll = wait.run {
            attempt += 1
            return attempt > attempts ? nil : "item \(attempt)"
        }
        return done
    }

    @Test func `has longer and longer pauses, of half a minute at most`() {
        let done = wait(attempts: 8)
        #expect(done.hasAll)
        // The last one only looks for a signal.
        #expect(done.pauses == [1, 2, 4, 8, 16, 30, 30, 30, 0])
        #expect(done.reports.first == "item 1 1")
        #expect(done.reports.last == "item 8 30")
        #expect(done.reports.count == 8)
    }

    @Test func `reports nothing if nothing is missing`() {
        #expect(wait(attempts: 0) == Done(hasAll: true, reports: [], pauses: [0]))
    }

    @Test func `ends with the process`() {
        #expect(
            wait(attempts: 8, endingPause: 2)
                == Done(hasAll: false, reports: ["item 1 1", "item 2 2"], pauses: [1, 2]))
        // After the last attempt, which has found everything.
        #expect(
            wait(attempts: 1, endingPause: 2)
                == Done(hasAll: false, reports: ["item 1 1"], pauses: [1, 0]))
    }

    @Test func `is for the addresses of all listeners`() {
        var settings = ServiceSettings()
        #expect(settings.listenerAddresses == ["127.0.0.1:7400"])
        settings.tls.listen = "203.0.113.1:7443"
        settings.http = "203.0.113.1:7401"
        settings.tls.http = "[2001:db8::1]:7444"
        settings.tls.xmpp = "203.0.113.2:5222"
        settings.tls.xmppOverTLS = "203.0.113.2:5223"
        #expect(
            settings.listenerAddresses == [
                "127.0.0.1:7400", "203.0.113.1:7443", "203.0.113.1:7401", "[2001:db8::1]:7444",
                "203.0.113.2:5222", "203.0.113.2:5223",
            ])
        // A kernel may have no IPv6: then the start fails, and does not wait.
        let descriptor = socket(AF_INET6, CInt(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return }
        close(descriptor)
        #expect(
            settings.missingAddresses()
                == "203.0.113.1:7443, 203.0.113.1:7401, [2001:db8::1]:7444, 203.0.113.2:5222, "
                + "203.0.113.2:5223")
        #expect(ServiceSettings().missingAddresses() == nil)
    }

    @Test func `is told to systemd, which then waits for longer`() {
        #expect(
            Supervisor.waits(for: "the address of a listener: 203.0.113.1:7400", seconds: 16)
                == "STATUS=Waiting for the address of a listener: 203.0.113.1:7400\n"
                + "EXTEND_TIMEOUT_USEC=46000000")
        #expect(Supervisor.continues == "STATUS=\nEXTEND_TIMEOUT_USEC=300000000")
    }

    @Test func `ends its pause at a signal`() throws {
        // One that ends no process, and that no other test uses.
        let pause = try SignalPause([SIGWINCH])
        defer { pause.close() }
        #expect(pause.wait(seconds: 0))
        kill(getpid(), SIGWINCH)
        // For as long as the test may take, unless the signal ends it.
        #expect(!pause.wait(seconds: 86_400))
    }
}
