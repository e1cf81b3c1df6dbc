import EventLoop
import Foundation

@testable import PresenceBench

/// A service to stand something in front of.
final class RunningChild {
    let address: ListenAddress
    private let child: ChildServer

    init() throws {
        child = try ChildServer(executable: try builtProgram(), options: [], processor: nil)
        try child.start(port: 0)
        address = try child.waitUntilReady(seconds: 60)
    }

    func end() { child.end() }
}
