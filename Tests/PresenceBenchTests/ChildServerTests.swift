import Foundation
import Testing

@testable import PresenceBench

@Suite struct ChildServerTests {
    @Test func `a child has no descriptors of its parent but the standard ones`() throws {
        // Without FD_CLOEXEC, as a library may open it.
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let files = FileManager.default
        let own = try files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(ends[0])")
        let child = try ChildServer(executable: try builtProgram(), options: [], processor: nil)
        defer { child.end() }
        try child.start(port: 0)
        _ = try child.waitUntilReady(seconds: 60)
        let folder = "/proc/\(child.process)/fd"
        let inherited = try files.contentsOfDirectory(atPath: folder).filter {
            // Some are closed meanwhile.
            (try? files.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == own
        }
        #expect(inherited.isEmpty, "\(inherited)")
    }
}
