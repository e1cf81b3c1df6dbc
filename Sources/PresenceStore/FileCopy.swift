internal import Glibc

/// Copies the beginning of a file, or all of it.
struct FileCopy {
    let from: String
    let to: String

    private static let chunkBytes = 1 << 20

    /// Writes at most `bytesMax` bytes, and returns how many. The file that is written may exist;
    /// it is readable by this user only.
    ///
    /// - Throws: which of the two cannot be read or written, and why; `file` is the name that the
    ///   written one is to have.
    func copy(bytesMax: Int, for file: String) throws(StoreFileError) -> Int {
        let source = unsafe open(from, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw unreadable() }
        defer { closeOnce(source) }
        let target = unsafe open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard target >= 0 else { throw unwritable(file) }
        defer { closeOnce(target) }
        var left = bytesMax
        while left > 0 {
            var count = 0
            let chunk = unsafe [UInt8](
                unsafeUninitializedCapacity: min(left, Self.chunkBytes)
            ) { buffer, filled in
                count = unsafe read(source, buffer.baseAddress, buffer.count)
                filled = max(0, count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable() }
            guard count > 0 else { break }
            try write(chunk, to: target, file)
            left -= count
        }
        return bytesMax - left
    }

    private func write(
        _ chunk: [UInt8], to target: CInt, _ file: String
    ) throws(StoreFileError) {
        var written = 0
        while written < chunk.count {
            let count = unsafe chunk[written...].withUnsafeBytes { bytes in
                unsafe Glibc.write(target, bytes.baseAddress, bytes.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unwritable(file) }
            written += count
        }
    }

    private func unreadable() -> StoreFileError {
        StoreFileError(.notReadable, path: from, detail: systemError())
    }

    private func unwritable(_ file: String) -> StoreFileError {
        StoreFileError(.backupNotWritable, path: file, detail: systemError())
    }
}
