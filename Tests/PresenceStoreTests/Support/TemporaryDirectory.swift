import Foundation

/// A directory that goes away with the test.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "porchlight-store-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Where the store's data go: a directory that the store makes itself.
    var data: String { path + "/data" }
    var database: String { data + "/porchlight.sqlite" }

    /// Every file of the data directory with its bytes.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: data)
        where !name.hasSuffix(".socket") {
            contents[name] = try Data(contentsOf: URL(fileURLWithPath: data + "/" + name))
        }
        return contents
    }

    /// A copy of the data as they are at this moment: what `kill -9` would leave.
    func crashImage() throws -> TemporaryDirectory {
        let image = TemporaryDirectory()
        let files = try contents()
        try FileManager.default.createDirectory(
            atPath: image.data, withIntermediateDirectories: false)
        for (name, content) in files {
            try content.write(to: URL(fileURLWithPath: image.data + "/" + name))
        }
        return image
    }

    /// Changes the database's bytes.
    func patchDatabase(_ change: (inout Data) -> Void) throws {
        let url = URL(fileURLWithPath: database)
        var bytes = try Data(contentsOf: url)
        change(&bytes)
        try bytes.write(to: url)
    }
}
