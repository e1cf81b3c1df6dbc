import Foundation
import PresenceCore
import Testing

@testable import PresenceHTTP

/// `docs/openapi.json` describes what is there, and nothing else.
@Suite struct `The description` {
    private let document: [String: Any]

    init() throws {
        let bytes = Data(EmbeddedFile.all(in: "openapi.json").flatMap(\.bytes))
        document = try #require(
            try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    }

    /// `METHOD path` → operation.
    private func described() throws -> [String: [String: Any]] {
        var found: [String: [String: Any]] = [:]
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        for (path, item) in paths {
            for (method, operation) in item where method != "parameters" {
                found["\(method.uppercased()) \(path)"] = operation as? [String: Any]
            }
        }
        return found
    }

    @Test func `has every operation, and no other`() throws {
        let there = PresenceHTTP.Operation.allCases.map { "\($0.method.rawValue) \($0.path)" }
        #expect(try Set(described().keys) == Set(there))
    }

    @Test(arguments: PresenceHTTP.Operation.allCases)
    func `says of each what the code says`(operation: PresenceHTTP.Operation) throws {
        let entry = try #require(
            try described()["\(operation.method.rawValue) \(operation.path)"])
        #expect(entry["operationId"] as? String == operation.name)
        #expect((entry["security"] as? [Any])?.isEmpty == (operation.isPublic ? true : nil))
        let body = entry["requestBody"] as? [String: Any]
        let content = body?["content"] as? [String: [String: Any]]
        let reference = (content?["application/json"]?["schema"] as? [String: Any])?["$ref"]
        let name = (reference as? String)?.components(separatedBy: "/").last
        let components = try #require(document["components"] as? [String: [String: Any]])
        let schema = name.flatMap { components["schemas"]?[$0] as? [String: Any] }
        let members = (schema?["properties"] as? [String: Any])?.keys
        #expect(members.map { Set($0) } == operation.bodyMembers.map { Set($0.map(\.rawValue)) })
    }

    @Test func `is served unchanged`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try Data(contentsOf: root.appending(path: "docs/openapi.json"))
        #expect(page == Data(EmbeddedFile.all(in: "openapi.json").flatMap(\.bytes)))
    }
}
