import CBench
import EventLoop

/// The lower bound of a fan-out's cost: a server without state or checks that writes prepared bytes
/// (`Sources/CBench/floor.c`). Its CPU time is the kernel's share, on this machine at this time;
/// anything more is the service's own. Like the service, it writes once per connection and turn.
public enum Floor {
    /// Prints its address, and serves groups of this size until a signal ends the process.
    public static func serve(
        accounts: UInt32, group: UInt32, eventBytes: UInt32, fault: String
    ) -> Never {
        _ = Descriptors.raiseMax()
        unsafe floor_serve(accounts, group, eventBytes, fault)
    }
}
