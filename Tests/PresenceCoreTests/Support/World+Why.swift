import PresenceCore

extension World {
    /// What `why` tells, with its texts.
    func why(
        _ subscriber: String, _ publisher: String, type: Int = 1
    ) -> (report: WhyReport, effects: Effects) {
        var effects = Effects()
        let report = withEngine {
            $0.why(
                subscriber: Array(subscriber.utf8), publisher: Array(publisher.utf8),
                EventType(number: UInt16(type)), at: now, into: &effects)
        }
        return (report, effects)
    }

    /// The events of a report: `cause subscribed [device fate]`, the last first.
    func fates(_ subscriber: String, _ publisher: String, type: Int = 1) -> [String] {
        let (report, effects) = why(subscriber, publisher, type: type)
        return report.events.map { event in
            let fates = event.fates.map { "\(effects.text($0.device)) \($0.what)" }
            let login = event.nextLogin.map { ", then \(effects.text($0.device)) \($0.list)" }
            return "\(event.cause) \(event.subscribed) \(fates)\(login ?? "")"
        }
    }
}
