import Foundation

/// Verifies an event as a whole, by a real parser; slow, for samples.
struct EventCheck {
    let names: Names

    /// Why the frame is not the event that `publisher` has published `value`; nil if it is.
    func mismatch(in body: RawSpan, publisher: Int, value: Int, seq: UInt64) -> String? {
        let data = unsafe body.withUnsafeBytes { unsafe Data($0) }
        guard
            let frame = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            frame["method"] as? String == "events",
            let params = frame["params"] as? [String: Any],
            let events = params["events"] as? [[String: Any]]
        else { return "it is not an `events` notification" }
        let wanted = events.filter { ($0["seq"] as? UInt64) == seq }
        guard wanted.count == 1, let event = wanted.first else { return "its seq is not \(seq)" }
        guard event["publisher"] as? String == names.text(publisher) else {
            return "its publisher is not \(names.text(publisher))"
        }
        guard event["type"] as? Int == 1, event["value"] as? Int == value,
            event["cause"] as? String == "publish"
        else { return "it does not publish \(value)" }
        guard let status = event["status"] as? [String: Any], status["value"] as? Int == value
        else {
            return "its status is not \(value)"
        }
        guard let online = event["online"] as? [[String: Any]], online.count == 1 else {
            return "its publisher is not online with one device"
        }
        return nil
    }
}
