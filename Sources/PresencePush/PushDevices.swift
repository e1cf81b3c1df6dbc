import PresenceCore
import PresenceGateway
import PresenceServer
import PresenceWire
import WebPush

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
            var list = MethodCall(.devices)
            list.arguments = [.init(.account, .text(account))]
            let devices = PushMessage.devices(try await gateway.call(list).bytes) ?? []
            // Compared byte by byte.
            let isSame = devices.contains {
                $0.device.utf8.elementsEqual(device.utf8)
                    && $0.pushAddress.map { $0.utf8.elementsEqual(address.utf8) } ?? false
            }
            guard isSame else { return false }
            var set = MethodCall(.setDevice)
            set.arguments = [
                .init(.account, .text(account)), .init(.device, .text(device)),
                .init(.pushAddress, .text("")),
            ]
            _ = try await gateway.call(set)
            return true
        } catch {
            // The push service reports it as expired again when the next message is pushed.
            return false
        }
    }
}
