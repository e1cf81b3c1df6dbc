import Glibc

/// A file system of its own, where the test may mount one.
final class SmallDisk: Sendable {
    let path: String

    /// Nil, with the reason printed, where mounting is not permitted.
    init?(at path: String, kibibytes: Int) {
        self.path = path
        mkdir(path, 0o700)
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(kibibytes)k") == 0 else {
            print("skipped: cannot mount a tmpfs: \(String(cString: strerror(errno)))")
            return nil
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
    }

    func makeReadOnly() -> Bool {
        mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0
    }

    /// Writes a file until nothing more fits.
    func fill(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        let block = [UInt8](repeating: 0xAA, count: 512)
        while write(descriptor, block, block.count) > 0 {}
    }
}
