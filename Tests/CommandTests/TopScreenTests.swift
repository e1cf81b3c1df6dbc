import PresenceClient
import Testing

@testable import porchlight

@Suite struct `The screen of top` {
    let facts: JSON = [
        "time": 1_763_700_060_000, "milliseconds": 60_000,
        "counts": ["events": 120, "deliveries": 600_000, "logins": 3],
        "publishersSince": 1_763_700_000_000,
        "publishers": [["account": "bob\u{1b}[2J", "events": 4, "deliveries": 400]],
        "senders": [["account": "eve", "messages": 9, "bytes": 4_608]], "boxes": [],
        "readers": [
            [
                "account": "alice", "device": "tab", "address": "127.0.0.1:9",
                "bytesWaiting": 70_000, "behind": 3, "since": 1_763_700_055_000,
            ]
        ], "readerCount": 1,
        "gauges": ["memoryBytes": 10_485_760, "processorMicroseconds": 1_500_000],
    ]

    @Test func `shows rates, publishers, readers, the store and memory`() {
        let text = TopScreen(facts, before: nil, style: Style()).lines.joined(separator: "\n")
        for words in [
            "events 2.0", "deliveries 10000", "logins 0.0",
            "         400           4  bob\\u{1b}[2J",
            "       70000           3         5 s  alice on tab at 127.0.0.1:9",
            "Most messages wait of:", "        4608           9  eve", "memory  10 MiB",
        ] { #expect(text.contains(words), "\(words)\n\(text)") }
    }

    @Test func `tells the processor's share from the second look on`() {
        let before: JSON = ["time": 1_763_700_050_000, "gauges": ["processorMicroseconds": 0]]
        let lines = TopScreen(facts, before: before, style: Style()).lines
        #expect(lines.last == "cpu     15 %")
    }
}
