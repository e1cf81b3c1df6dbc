import TestSupport
import Testing

@testable import TLSSessions

@Suite struct `A certificate` {
    private func context(_ files: TLSCertificateFiles...) throws -> TLSContext {
        try TLSContext(files, tickets: #require(TLSTicketKeys(at: 0)))
    }

    @Test func `is described`() throws {
        let context = try context(
            TestPEM.files(TestPEM.first, TestPEM.firstKey),
            TestPEM.files(TestPEM.second, TestPEM.secondKey),
            TestPEM.files(TestPEM.third, TestPEM.intermediate, key: TestPEM.thirdKey))
        let all = context.certificates
        #expect(
            all.map(\.names) == [
                ["one.example", "one.example"], ["two.example", "*.two.example"], ["three.example"],
            ])
        #expect(
            all.map(\.key) == [
                .ellipticCurve(bits: 256), .rsa(bits: 2_048), .ellipticCurve(bits: 256),
            ])
        #expect(all.map(\.intermediates) == [0, 0, 1])
        // 1 January 2026 and 8 December 2125.
        #expect(all[0].validFromSeconds == 1_767_225_600)
        #expect(all[0].expiresSeconds == 4_920_825_600)
    }

    @Test func `is rejected with its position and the reason`() throws {
        let sound = TestPEM.files(TestPEM.first, TestPEM.firstKey)
        let damaged = String(TestPEM.first.dropLast(60)) + "\n-----END CERTIFICATE-----\n"
        let cases: [(TLSCertificateFiles, TLSCertificateError)] = [
            (TestPEM.files("", TestPEM.firstKey), .noCertificate),
            (TestPEM.files("text", TestPEM.firstKey), .noCertificate),
            (TestPEM.files(TestPEM.firstKey, TestPEM.firstKey), .noCertificate),
            (TestPEM.files(damaged, TestPEM.firstKey), .malformedCertificate),
            (
                TestPEM.files(TestPEM.first, damaged, key: TestPEM.firstKey),
                .malformedChain(number: 2)
            ),
            (TestPEM.files(TestPEM.first, ""), .malformedKey),
            (TestPEM.files(TestPEM.first, TestPEM.first), .malformedKey),
            (TestPEM.files(TestPEM.first, TestPEM.firstKeyEncrypted), .encryptedKey),
            (TestPEM.files(TestPEM.first, TestPEM.thirdKey), .otherKey),
            (TestPEM.files(TestPEM.first, TestPEM.secondKey), .otherKey),
            (TestPEM.files(TestPEM.weak, TestPEM.weakKey), .weakCertificate),
        ]
        for (files, reason) in cases {
            let error = #expect(throws: TLSContextError.self) { try context(sound, files) }
            #expect(error?.number == 1)
            #expect(error?.reason == reason)
            #expect(ErrorQueue.isEmpty)
        }
        #expect(throws: TLSContextError(number: 0, .noCertificates)) { try context() }
    }

    @Test func `can be used at any time, and says when it is valid`() throws {
        let context = try context(
            TestPEM.files(TestPEM.first, TestPEM.firstKey),
            TestPEM.files(TestPEM.expired, TestPEM.expiredKey))
        let (first, expired) = (context.certificates[0], context.certificates[1])
        #expect(first.validity(at: Setting.today) == .valid)
        #expect(expired.validity(at: Setting.today) == .expired)
        #expect(first.validity(at: first.validFromSeconds - 1) == .notYetValid)
        #expect(first.validity(at: first.validFromSeconds) == .valid)
        #expect(first.validity(at: first.expiresSeconds - 1) == .valid)
        #expect(first.validity(at: first.expiresSeconds) == .expired)
        #expect(first.validity(at: .min) == .notYetValid)
        #expect(first.validity(at: .max) == .expired)
    }

    @Test func `that has expired is served, and its client rejects it`() throws {
        var setting = try Setting()
        setting.files = [TestPEM.files(TestPEM.expired, TestPEM.expiredKey)]
        setting.serverName = "old.example"
        let pair = try setting.connect()
        #expect(pair.client.phase == .failed(.certificate))
        #expect(pair.server.phase == .failed(.rejected))
    }

    @Test func `of a client's trust must be one`() {
        let damaged = "-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n"
        #expect(throws: TLSCertificateError.malformedCertificate) {
            try TLSClientContext(.certificates(Array(damaged.utf8)))
        }
        #expect(throws: TLSCertificateError.malformedChain(number: 2)) {
            try TLSClientContext(.certificates(Array((TestPEM.first + "\n" + damaged).utf8)))
        }
        #expect(throws: TLSCertificateError.noCertificate) {
            try TLSClientContext(.certificates(Array("text".utf8)))
        }
    }

    @Test func `that its client does not trust ends the handshake`() throws {
        var setting = try Setting()
        setting.files = [TestPEM.files(TestPEM.third, key: TestPEM.thirdKey)]
        setting.serverName = "three.example"
        let pair = try setting.connect()
        #expect(pair.client.phase == .failed(.certificate))
        #expect(pair.server.phase == .failed(.rejected))
    }
}
