import Foundation
import NIOCore
import Testing

@testable import PresenceHTTP

@Suite struct `The files of the SDK` {
    private let files = SDKFiles()

    private var folder: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "clients/js/src")
    }

    @Test func `are all served, unchanged`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(Set(files.names) == Set(names))
        for name in names {
            let file = try #require(files[name[...]])
            let bytes = try Data(contentsOf: folder.appending(path: name))
            #expect(Data(file.body.readableBytesView) == bytes, "\(name)")
        }
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
