import PresenceCore
import PresenceGateway
import PresenceServer
import PresenceWire

/// The devices that have left addresses.
protocol PushDevices: Sendable {
    /// Removes an address that no longer exists, unless the device has set another one meanwhile.
    /// Returns whether it was removed.
    func remove(_ address: String, of device: String, of account: String) async -> Bool
}

/// Those of the service.
struct ServiceDevices: PushDevices {
    let gateway: Gateway

    func remove(_ address: String, of device: String, of account: String) async -> Bool {
        do throws(InProcessError) {
            // One change with a condition: an address that is set meanwhile stays.
            let left = try await gateway.setDevice([
                .init(.account, .text(account)), .init(.device, .text(device)),
                .init(.pushAddress, .text("")), .init(.ifPushAddress, .text(address)),
            ])
            return left.pushAddress.isEmpty
        } catch {
            // The push service reports it as expired again when the next message is pushed.
            return false
        }
    }
}
