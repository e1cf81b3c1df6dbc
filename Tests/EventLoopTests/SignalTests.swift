import EventLoop
import Glibc
import Testing

@Suite struct SignalTests {
    @Test func `a watched signal is reported instead of ending the process`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        try loop.watchSignals([SIGUSR1, SIGUSR2])
        kill(getpid(), SIGUSR2)
        recorder.run(until: { !recorder.signals.isEmpty })
        #expect(recorder.signals == [SIGUSR2])
        loop.close()
    }

    @Test func `a signal that cannot be caught is rejected`() throws {
        let loop = try Loop()
        let error = #expect(throws: UVError.self) { try loop.watchSignals([SIGKILL]) }
        #expect(error?.name == "EINVAL")
        loop.close()
    }
}
