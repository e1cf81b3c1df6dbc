import Foundation
import Testing

@testable import porchlight

@Suite struct `A time of the command` {
    /// From years with four digits, on both sides of 1970.
    @Test func `is written as Foundation writes it`() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
        var numbers: [Int64] = [0, -1, -999, -1_000, 999, 1_795_723_135_586, 253_402_128_000_000]
        for _ in 0..<1_000 { numbers.append(Int64.random(in: -1_000_000_000...4_000_000_000_000)) }
        for number in numbers {
            let time = Date(timeIntervalSince1970: (Double(number) / 1_000).rounded(.down))
            let text = formatter.string(from: time)
            #expect(dateAndTime(number) == text, "\(number)")
            #expect(clockTime(number) == text.suffix(8), "\(number)")
        }
    }
}
