import TestSupport
import Testing

@testable import TLSSessions

@Suite struct `A certificate` {
    private func context(_ files: TLSCertificateFiles...) throws -> TLSContext {
        try TLSContext(files, tickets: #require(TLSTicketKeys(at: 0)), at: Setting.today)
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
            (TestPEM.files(TestPEM.expired, TestPEM.expiredKey), .expired),
        ]
        for (files, reason) in cases {
            let error = #expect(throws: TLSContextError.self) { try context(sound, files) }
            #expect(error?.number == 1)
            #expect(error?.reason == reason)
            #expect(ErrorQueue.isEmpty)
        }
        #expect(throws: TLSContextError(number: 0, .noCertificates)) { try context() }
        #expect(throws: TLSContextError(number: 0, .notYetValid)) {
            try TLSContext([sound], tickets: #require(TLSTicketKeys(at: 0)), at: 1_700_000_000)
        }
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
