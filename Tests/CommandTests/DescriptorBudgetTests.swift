import PresenceServer
import Testing

@testable import porchlight

@Suite struct `A budget of descriptors` {
    private func settings(webhooks: Int) -> ServiceSettings {
        var settings = ServiceSettings()
        settings.http = "127.0.0.1:0"
        if webhooks == 1 { settings.webhooks.url = "http://127.0.0.1/" }
        if webhooks > 1 { settings.webhooks.listPath = "webhooks.json" }
        return settings
    }

    @Test(arguments: [256, 300, 512, 1_024, 4_096, 20_000, 1_048_576], [0, 1, 16])
    func `leaves some to clients, whatever else there is`(descriptors: Int, webhooks: Int) {
        let budget = DescriptorBudget(settings(webhooks: webhooks), descriptorsMax: descriptors)
        // 32 in use at rest, 32 free, 16 for connections above the limit.
        #expect(descriptors - budget.elsewhere - 80 >= 16)
        #expect(budget.httpConnectionsMax >= 8)
    }

    @Test func `has some for each push service`() {
        var settings = settings(webhooks: 0)
        let without = DescriptorBudget(settings, descriptorsMax: 1_024).elsewhere
        settings.push.hosts = "a.example,b.example"
        #expect(DescriptorBudget(settings, descriptorsMax: 1_024).elsewhere == without)
        settings.push.keyPath = "push.key"
        #expect(DescriptorBudget(settings, descriptorsMax: 1_024).elsewhere == without + 52)
    }

    @Test func `of too few descriptors is rejected, and says what to do`() {
        let budget = DescriptorBudget(settings(webhooks: 0), descriptorsMax: 255)
        let rejection = #expect(throws: SettingsError.self) { try budget.check() }
        #expect(rejection?.description.contains("needs at least 256: raise `ulimit -n`") == true)
    }

    @Test func `has more for several loops`() {
        var settings = ServiceSettings()
        settings.loops = 64
        // As above, for clients, for keys, and for the loops.
        let least = 80 + 16 + 2 + 512
        let rejected = DescriptorBudget(settings, descriptorsMax: least - 1)
        let rejection = #expect(throws: SettingsError.self) { try rejected.check() }
        let text = rejection?.description ?? ""
        #expect(text.contains("needs at least 610, 512 of them for several loops"), "\(text)")
        let budget = DescriptorBudget(settings, descriptorsMax: least)
        #expect(throws: Never.self) { try budget.check() }
        settings.loops = 3
        #expect(throws: Never.self) {
            try DescriptorBudget(settings, descriptorsMax: 256).check()
        }
    }

    @Test func `has nothing for what is switched off`() {
        let budget = DescriptorBudget(ServiceSettings(), descriptorsMax: 1_024)
        #expect(budget.elsewhere < 8)
    }
}
