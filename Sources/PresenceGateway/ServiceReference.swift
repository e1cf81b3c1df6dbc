import PresenceCore
public import PresenceServer
import Synchronization

/// The way to a service that may not exist yet.
public final class ServiceReference: Sendable {
    private let control = Mutex<ServiceControl?>(nil)

    /// Closed.
    public init() {}

    /// Opens it, once the service accepts clients. Any thread.
    public func open(to control: ServiceControl) {
        self.control.withLock { $0 = control }
    }

    func makeClient(
        _ limits: InProcessLimits, wake: @escaping @Sendable () -> Void,
        needsHandOver: @escaping () -> Void
    ) throws(InProcessError) -> InProcessClient {
        guard let control = control.withLock({ $0 }) else { throw .starting }
        do throws(ServiceError) {
            return try control.makeClient(limits, wake: wake, needsHandOver: needsHandOver)
        } catch {
            throw .ended
        }
    }
}
