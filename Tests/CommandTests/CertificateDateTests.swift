import TLSSessions
import TestSupport
import Testing

@testable import porchlight

/// Seconds.
private let day: Int64 = 86_400
/// From 1 January 2026.
private let begin: Int64 = 1_767_225_600
/// Until 8 December 2125.
private let end: Int64 = 4_920_825_600

/// A time, and what is said then of the first certificate.
private let warnings: [(Int64, String?)] = [
    (begin - 1, "is not valid before 2026-01-01T00:00:00Z"),
    (begin, nil),
    (end - 14 * day, nil),
    (end - 14 * day + 1, "expires in 13 days"),
    (end - 2 * day, "expires in 2 days"),
    (end - 2 * day + 1, "expires in a day"),
    (end - day + 1, "expires within a day"),
    (end - 1, "expires within a day"),
    (end, "expired at 2125-12-08T00:00:00Z"),
    (end + 100 * day, "expired at 2125-12-08T00:00:00Z"),
]

@Suite struct `The dates of certificates` {
    /// A valid one, and one that expired on 31 December 2020.
    private let (valid, expired): (ServedCertificate, ServedCertificate)

    init() throws {
        func served(_ path: String, _ chain: String, _ key: String) throws -> ServedCertificate {
            let files = TLSCertificateFiles(chain: Array(chain.utf8), key: Array(key.utf8))
            let context = try TLSContext([files], tickets: try #require(TLSTicketKeys(at: 0)))
            return ServedCertificate(
                path: path, chain: files.chain, certificate: context.certificates[0])
        }
        valid = try served("a.pem", TestPEM.first, TestPEM.firstKey)
        expired = try served("b.pem", TestPEM.expired, TestPEM.expiredKey)
    }

    @Test(arguments: warnings)
    func `are warned of`(wallSeconds: Int64, words: String?) {
        #expect(
            valid.warning(at: wallSeconds) == words.map { "the certificate in a.pem \($0)" })
    }

    @Test func `let no invalid one replace a valid one`() {
        let now = begin + day
        func rejections(_ old: ServedCertificate..., new: ServedCertificate...) -> [String] {
            new.rejections(replacing: old, at: now)
        }
        #expect(
            rejections(valid, valid, new: valid, expired) == [
                "the certificate in b.pem expired at 2020-12-31T00:00:00Z; the valid one stays in "
                    + "use"
            ])
        #expect(rejections(valid, new: valid) == [])
        #expect(rejections(expired, new: valid) == [])
        #expect(rejections(expired, new: expired) == [])
        // Both are not valid yet, or not any more: nothing is lost.
        #expect([expired].rejections(replacing: [valid], at: begin - 1) == [])
        #expect([expired].rejections(replacing: [valid], at: end) == [])
    }

    @Test func `are warned of daily`() {
        var now = begin
        let line = "the certificate in b.pem expired at 2020-12-31T00:00:00Z"
        var warnings = CertificateWarnings([valid, expired], warnedAt: now)
        for _ in 0..<3 {
            #expect(warnings.due(at: now + day - 1) == [])
            now += day
            #expect(warnings.due(at: now) == [line])
            #expect(warnings.due(at: now) == [])
        }
        // A clock that is set back by years.
        now -= 500 * day
        #expect(warnings.due(at: now).count == 2)
        #expect(warnings.due(at: now + 60) == [])
    }

    @Test func `are warned of as soon as one has expired`() {
        let line = "the certificate in a.pem expired at 2125-12-08T00:00:00Z"
        var warnings = CertificateWarnings([valid], warnedAt: end - 120)
        #expect(warnings.due(at: end - 60) == [])
        #expect(warnings.due(at: end) == [line])
        #expect(warnings.due(at: end + 60) == [])
        #expect(warnings.due(at: end + day) == [line])
    }

    @Test func `are not warned of while all are valid for long`() {
        var warnings = CertificateWarnings([valid], warnedAt: begin)
        #expect(warnings.due(at: begin + 3 * day) == [])
        // A reload has warned of this one.
        warnings.replace(with: [expired], at: begin + 3 * day)
        #expect(warnings.due(at: begin + 3 * day + 60) == [])
        #expect(warnings.due(at: begin + 4 * day).count == 1)
    }
}
