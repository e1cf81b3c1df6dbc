import Foundation
import NIOCore
import Testing

@testable import PresenceHTTP

@Suite struct `The files that are served` {
    private static let clients = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "clients")

    private let sdk = FileSet.sdk

    /// The response to a request with these fields.
    private func file(
        _ name: String, of files: FileSet, _ fields: String...
    ) throws -> Response? {
        var section = FieldSection(FieldSection.Limits(count: 10, bytes: 1_000))
        for field in fields { try section.take(Array(field.utf8)) }
        try section.end()
        return files.response(for: name[...], to: section)
    }

    private func bytes(_ response: Response?) throws -> Data {
        guard case .buffer(let body) = try #require(response).body else { return Data() }
        return Data(body.readableBytesView)
    }

    @Test(arguments: [
        ("console/", ["console"]), ("demo/", ["demo"]), ("sdk/", ["js/src", "js/dist"]),
    ])
    func `are those of their folders, unchanged`(served: String, folders: [String]) throws {
        let files = FileSet(EmbeddedFile.all(in: served), [:])
        var expected: [String: Data] = [:]
        for folder in folders.map({ Self.clients.appending(path: $0) }) {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path())
            where folders.count == 1 || name.hasSuffix(".js") {
                expected[name] = try Data(contentsOf: folder.appending(path: name))
            }
        }
        #expect(Set(files.names) == Set(expected.keys))
        for (name, content) in expected {
            let response = try file(name, of: files)
            #expect(try bytes(response) == content, "\(name)")
            #expect(response?.headers[.contentEncoding] == nil)
            // Else browsers reject it, with nosniff.
            #expect(response?.headers[.contentType] != "application/octet-stream", "\(name)")
        }
    }

    @Test func `have a page without a name, if any`() throws {
        let page = try file("", of: .console)
        #expect(page?.headers[.contentType] == "text/html; charset=utf-8")
        #expect(try bytes(page) == bytes(file("index.html", of: .console)))
        #expect(try file("", of: sdk) == nil)
    }

    @Test func `are compressed where that is accepted`() throws {
        let name = "porchlight.min.js"
        let plain = try file(name, of: sdk)
        let compressed = try file(name, of: sdk, "Accept-Encoding: gzip")
        let content = try Data(contentsOf: Self.clients.appending(path: "js/dist/\(name).gz"))
        #expect(try bytes(compressed) == content)
        #expect(compressed?.headers[.contentType] == "text/javascript; charset=utf-8")
        #expect(compressed?.headers[.eTag] != plain?.headers[.eTag])
        for field in ["gzip", "gzip, deflate, br", "br;q=1.0, GZIP;q=0.2", "deflate,\tgzip ; q=1"] {
            let response = try file(name, of: sdk, "Accept-Encoding: \(field)")
            #expect(response?.headers[.contentEncoding] == "gzip", "\(field)")
        }
        for field in ["", "br", "gzip;q=0", "gzip; q=0.000", "x-gzipped", "identity"] {
            let response = try #require(try file(name, of: sdk, "Accept-Encoding: \(field)"))
            #expect(response.headers[.contentEncoding] == nil, "\(field)")
        }
        let other = try #require(try file("index.js", of: sdk, "Accept-Encoding: gzip"))
        #expect(other.headers[.contentEncoding] == nil)
        for missing in ["none.js", name + ".gz"] {
            #expect(try file(missing, of: sdk, "Accept-Encoding: gzip") == nil)
        }
    }

    @Test func `have tags of their own, which last`() throws {
        let tags = try sdk.names.compactMap { try file($0, of: sdk)?.headers[.eTag] }
        #expect(Set(tags).count == sdk.names.count)
        #expect(tags.allSatisfy { $0.utf8.count == 34 })
        let script = EmbeddedFile(name: "a.js", bytes: [1])
        let fields: [ResponseFields] = [[:], [:], [.vary: "a"]]
        let same = try fields.map { fields in
            try file("a.js", of: FileSet([script], fields))?.headers[.eTag]
        }
        #expect(same[0] == same[1])
        // A client that has the file keeps the fields as well.
        #expect(same[0] != same[2])
    }

    @Test func `are not sent to those that have them, by tags in every form`() throws {
        let tag = try #require(try file("index.js", of: sdk)?.headers[.eTag])
        for field in [tag, "*", "W/\(tag)", "\"x\", \(tag)", "\"x\" ,W/\(tag)\t,", " \(tag) "] {
            let response = try file("index.js", of: sdk, "If-None-Match: \(field)")
            #expect(response?.status == .notModified, "\(field)")
            #expect(response?.headers[.accessControlAllowOrigin] == "*")
            #expect(response?.headers[.eTag] == tag)
        }
        for field in ["", ",", "\"x\"", String(tag.dropFirst()), "w/\(tag)", "W/ \(tag)"] {
            let response = try file("index.js", of: sdk, "If-None-Match: \(field)")
            #expect(response?.status == .ok, "\(field)")
        }
        #expect(try file("index.js", of: sdk)?.status == .ok)
    }
}
