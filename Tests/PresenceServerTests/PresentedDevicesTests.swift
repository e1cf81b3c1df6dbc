import Testing

@testable import PresenceServer

@Suite struct `Devices that have presented themselves` {
    @Test func `are told of once when they go`() {
        var devices = PresentedDevices()
        let unknown = devices.end(1)
        #expect(!unknown)
        devices.begin(1)
        devices.begin(1)
        let ends = [devices.end(1), devices.end(1)]
        #expect(ends == [true, false])
    }

    @Test func `are all told of when there are too many`() {
        var devices = PresentedDevices()
        for device in 0..<PresentedDevices.countMax + 10 { devices.begin(device) }
        let ends = [devices.end(1), devices.end(-1), devices.end(1)]
        #expect(ends == [true, true, true])
    }
}
