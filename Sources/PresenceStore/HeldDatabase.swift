internal import Glibc

/// The files of a running service, which keeps them as they are while they are copied: the other
/// end of `BackupSocket`.
final class HeldDatabase {
    /// How many bytes of the log belong to the copy.
    let logBytes: Int
    private let connection: CInt

    /// Asks the service, and waits while other copies are in progress.
    /// - Throws: if it does not answer, or cannot.
    init(_ files: StoreFiles) throws(StoreFileError) {
        guard
            let connection = LocalSocket.connect(
                to: files.backupSocket, seconds: BackupSocket.copySecondsMax)
        else {
            throw StoreFileError(.notAnswering, path: files.directory, detail: systemError())
        }
        let line = LocalSocket.line(from: connection) ?? ""
        let words = line.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0] == "hold", let bytes = Int(words[1]), bytes >= 0 else {
            closeOnce(connection)
            let reason = words.first == "error" ? String(words.last ?? "") : "no answer in time"
            throw StoreFileError(.notAnswering, path: files.directory, detail: reason)
        }
        logBytes = bytes
        self.connection = connection
    }

    deinit { closeOnce(connection) }

    /// Lets the service continue. Returns whether its files were the same all the time.
    func release() -> Bool {
        LocalSocket.send("done\n", to: connection)
        return LocalSocket.line(from: connection) == "whole"
    }
}
