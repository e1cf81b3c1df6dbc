import Foundation
import NIOCore
import Testing

@testable import PresenceHTTP

@Suite struct `The files of the console` {
    private let files = ConsoleFiles()

    private var folder: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "clients/console")
    }

    @Test func `are all served, unchanged`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(Set(files.names) == Set(names))
        for name in files.names {
            let bytes = try Data(contentsOf: folder.appending(path: name))
            let file = try #require(files[name[...]]).file
            #expect(Data(file.body.readableBytesView) == bytes, "\(name)")
        }
    }

    @Test func `have media types that browsers accept with nosniff`() throws {
        let types = try files.names.map { try #require(files[$0[...]]).type }
        #expect(!types.contains("application/octet-stream"))
        #expect(files[""]?.type == "text/html; charset=utf-8")
    }
}
