import Foundation
import NIOCore
import Testing

@testable import PresenceHTTP

@Suite struct `The files of the SDK` {
    private let files = SDKFiles()

    private var folder: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "clients/js")
    }

    @Test func `are all served, unchanged`() throws {
        let names = try ["src", "dist"].flatMap { part in
            try FileManager.default.contentsOfDirectory(
                atPath: folder.appending(path: part).path())
        }
        #expect(Set(files.names) == Set(names.filter { $0.hasSuffix(".js") }))
        for name in files.names {
            let file = try #require(files[name[...]])
            let part = name.hasSuffix(".min.js") ? "dist" : "src"
            let bytes = try Data(contentsOf: folder.appending(path: "\(part)/\(name)"))
            #expect(Data(file.body.readableBytesView) == bytes, "\(name)")
            #expect(!file.isCompressed)
        }
    }

    @Test func `that a browser needs are one, compressed where that is accepted`() throws {
        let name = "porchlight.min.js"
        let plain = try #require(files.file(name[...], accepting: nil))
        let compressed = try #require(files.file(name[...], accepting: "gzip"))
        let bytes = try Data(contentsOf: folder.appending(path: "dist/\(name).gz"))
        #expect(Data(compressed.body.readableBytesView) == bytes)
        #expect(compressed.isCompressed)
        #expect(compressed.tag != plain.tag)
        for field in ["gzip, deflate, br", "br;q=1.0, GZIP;q=0.2", "deflate,\tgzip ; q=1"] {
            #expect(files.file(name[...], accepting: field)?.isCompressed == true, "\(field)")
        }
        for field in ["", "br", "gzip;q=0", "gzip; q=0.000", "x-gzipped", "identity"] {
            #expect(files.file(name[...], accepting: field)?.isCompressed == false, "\(field)")
        }
        #expect(files.file("index.js", accepting: "gzip")?.isCompressed == false)
        #expect(files.file("none.js", accepting: "gzip") == nil)
    }

    @Test func `have tags of their own, which last`() {
        let tags = files.names.compactMap { files[$0[...]]?.tag }
        #expect(Set(tags).count == tags.count)
        #expect(tags.allSatisfy { $0.utf8.count == 34 })
        #expect(SDKFiles()["index.js"]?.tag == files["index.js"]?.tag)
    }

    @Test func `are named by tags in every form`() throws {
        let file = try #require(files["index.js"])
        let tag = file.tag
        for field in [tag, "*", "W/\(tag)", "\"x\", \(tag)", "\"x\" ,W/\(tag)\t,", " \(tag) "] {
            #expect(file.isNamed(by: field), "\(field)")
        }
        for field in [nil, "", ",", "\"x\"", String(tag.dropFirst()), "w/\(tag)", "W/ \(tag)"] {
            #expect(!file.isNamed(by: field), "\(field ?? "-")")
        }
    }
}
