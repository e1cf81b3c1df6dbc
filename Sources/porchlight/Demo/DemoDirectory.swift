import CommandSupport
import CoreFoundation
import Foundation

/// Where the demo has its data.
struct DemoDirectory {
    let path: String
    private let isTemporary: Bool

    private static let prefix = "porchlight-demo-"

    /// The one that was chosen, or a new one.
    init(_ chosen: String?) throws(CommandError) {
        isTemporary = chosen == nil
        let parent = FileManager.default.temporaryDirectory.path
        path = chosen ?? "\(parent)/\(Self.prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))"
        if isTemporary { Self.removeLeftovers(in: parent) } else { try rejectThatOfAnother() }
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: !isTemporary,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandError(
                "The directory \(path) cannot be made (\(error.localizedDescription)); choose "
                    + "another one with --data.")
        }
    }

    private var keyPath: String { path + "/demo-push.key" }

    /// Each account of the demo needs no credentials. That must not happen to a real service.
    private func rejectThatOfAnother() throws(CommandError) {
        guard FileManager.default.fileExists(atPath: path + "/porchlight.sqlite"),
            !FileManager.default.fileExists(atPath: keyPath)
        else { return }
        throw CommandError(
            "The directory \(path) has the data of a service that is not a demo's "
                + "(porchlight.sqlite without demo-push.key); choose another one with --data.")
    }

    /// The file with the key of push messages, which stays the same: browsers subscribe with it.
    func pushKey() throws -> String {
        guard !FileManager.default.fileExists(atPath: keyPath) else { return keyPath }
        try makePushKey(keyPath)
        return keyPath
    }

    func end() {
        if isTemporary { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Removes the temporary directories of demos that were killed, but for those whose services
    /// still run: these end soon, or are those of a demo in another container.
    private static func removeLeftovers(in parent: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] {
            let path = "\(parent)/\(name)"
            guard name.hasPrefix(prefix),
                let process = pid_t(name.dropFirst(prefix.count).prefix { $0 != "-" }),
                process > 0, kill(process, 0) != 0, errno == ESRCH,
                isOwnDirectory(path), !hasService(path)
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Whether it is a directory of this user, and no link to one.
    private static func isOwnDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            && status.st_uid == geteuid()
    }

    /// Whether a service runs on this directory: it has a lock as long as it does.
    private static func hasService(_ path: String) -> Bool {
        let descriptor = unsafe open(path + "/porchlight.lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0
    }
}
