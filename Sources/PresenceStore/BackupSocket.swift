internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

/// Where `porchlight backup` asks a running service to keep its database file as it is while it
/// copies it: a socket in the data directory, for this user alone.
///
/// A client is sent `hold N` and a line feed, where N is how many bytes of the log belong to the
/// copy, or `error` and the reason. When it has copied these files it sends `done`, and is sent
/// `whole` if they have not changed. One at a time; the others wait. Commits continue, into the
/// log.
final class BackupSocket: Sendable {
    private let files: StoreFiles
    private let inbox: Inbox
    /// What is closed to end the thread, and what notices.
    private let end: (closed: CInt, noticed: CInt)
    private let ended = DispatchSemaphore(value: 0)

    /// How long a copy may take: the log grows meanwhile.
    static let copySecondsMax = 3_600
    /// The pause before a socket that could not be made is tried again.
    private static let retrySeconds = 10

    /// Nil: the process has no descriptor for it. `unavailable` is called once, with the reason, if
    /// the socket cannot be made.
    init?(
        _ files: StoreFiles, _ inbox: Inbox,
        unavailable: (_ reason: String) -> Void
    ) {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.files = files
        self.inbox = inbox
        end = (closed: ends[1], noticed: ends[0])
        let listener = LocalSocket.listen(at: files.backupSocket)
        if listener == nil { unavailable("\(files.backupSocket): \(systemError())") }
        Thread { [self] in
            try? Data("backup".utf8).write(to: URL(filePath: "/proc/thread-self/comm"))
            serve(listener)
            closeOnce(end.noticed)
            ended.signal()
        }.start()
    }

    /// Ends the thread, and a copy in progress.
    func close() {
        closeOnce(end.closed)
        ended.wait()
    }

    /// Accepts one connection after the other, until the end.
    private func serve(_ first: CInt?) {
        var listener = first
        defer {
            if let listener {
                _ = unsafe unlink(files.backupSocket)
                closeOnce(listener)
            }
        }
        while true {
            listener = listener ?? LocalSocket.listen(at: files.backupSocket)
            switch wait(for: listener, seconds: listener == nil ? Self.retrySeconds : nil) {
            case .ended: return
            case .timedOut: continue
            case .ready: break
            }
            guard let listener else { continue }
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else {
                // Such as without a descriptor; a client that waits must not cost a core.
                if wait(for: nil, seconds: 1) == .ended { return }
                continue
            }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            serve(connection)
            closeOnce(connection)
        }
    }

    private enum Waited { case ready, timedOut, ended }

    private func wait(for descriptor: CInt?, seconds: Int?) -> Waited {
        var events = [
            pollfd(fd: end.noticed, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = unsafe poll(&events, nfds_t(events.count), CInt((seconds ?? -1) * 1_000))
            if count < 0, errno == EINTR { continue }
            if events[0].revents != 0 { return .ended }
            return count > 0 ? .ready : .timedOut
        }
    }

    /// One copy.
    private func serve(_ connection: CInt) {
        switch hold() {
        case .failure(let error):
            LocalSocket.send("error \(error)\n", to: connection)
        case .success(let bytes):
            LocalSocket.send("hold \(bytes)\n", to: connection)
            let isReady = wait(for: connection, seconds: Self.copySecondsMax) == .ready
            let isDone = isReady && LocalSocket.line(from: connection) == "done"
            let isSame = ask { writer in writer.release() }
            if isDone, isSame { LocalSocket.send("whole\n", to: connection) }
        }
    }

    /// The bytes of the log that belong to the copy.
    private func hold() -> Result<Int, StoreError> {
        ask { writer in
            do throws(StoreError) {
                return .success(try writer.hold())
            } catch {
                return .failure(error)
            }
        }
    }

    /// Has the store's thread do something, and waits for it.
    private func ask<Value: Sendable>(_ action: @escaping @Sendable (Writer) -> Value) -> Value {
        let answer = Answer<Value>()
        inbox.add { writer in answer.give(action(writer)) }
        return answer.wait()
    }
}

/// What one thread waits for from another.
private final class Answer<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isGiven = DispatchSemaphore(value: 0)

    func give(_ new: Value) {
        value.withLock { $0 = new }
        isGiven.signal()
    }

    func wait() -> Value {
        while true {
            isGiven.wait()
            if let given = value.withLock({ $0 }) { return given }
        }
    }
}
