import Foundation
import TLSSessions

/// A certificate that is served, and the file that it is from.
struct ServedCertificate: Sendable {
    let path: String
    /// The content of the file, which is public.
    let chain: [UInt8]
    let certificate: TLSCertificate

    /// A warning begins this long before a certificate expires.
    private static let noticeSeconds: Int64 = 14 * 24 * 3_600

    /// Whether its dates include a time, in seconds since 1970 UTC.
    func isValid(at wallSeconds: Int64) -> Bool {
        certificate.validity(at: wallSeconds) == .valid
    }

    /// What the operator should know about its dates at a time; nil: nothing.
    func warning(at wallSeconds: Int64) -> String? {
        switch certificate.validity(at: wallSeconds) {
        case .expired:
            return "the certificate in \(path) expired at \(Self.text(certificate.expiresSeconds))"
        case .notYetValid:
            let begin = Self.text(certificate.validFromSeconds)
            return "the certificate in \(path) is not valid before \(begin)"
        case .valid:
            let left = certificate.expiresSeconds - wallSeconds
            guard left < Self.noticeSeconds else { return nil }
            return "the certificate in \(path) expires \(Self.text(daysIn: left))"
        }
    }

    private static func text(daysIn seconds: Int64) -> String {
        switch seconds / 86_400 {
        case 2...: "in \(seconds / 86_400) days"
        case 1: "in a day"
        default: "within a day"
        }
    }

    /// As in RFC 3339, in UTC: `2026-11-21T10:58:01Z`.
    private static func text(_ wallSeconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(wallSeconds)).formatted(.iso8601)
    }
}

extension [ServedCertificate] {
    /// What the operator should know about their dates at a time, a line each.
    func warnings(at wallSeconds: Int64) -> [String] {
        compactMap { $0.warning(at: wallSeconds) }
    }

    /// The files of those that are not valid at a time.
    func invalidPaths(at wallSeconds: Int64) -> Set<String> {
        Set(filter { !$0.isValid(at: wallSeconds) }.map(\.path))
    }

    /// Why these must not replace others: one that is valid would be replaced by one that is not.
    ///
    /// A reload does not change which files are named, so both lists have the same order.
    func rejections(replacing others: [ServedCertificate], at wallSeconds: Int64) -> [String] {
        zip(self, others).compactMap { new, old in
            guard old.isValid(at: wallSeconds), !new.isValid(at: wallSeconds) else { return nil }
            return new.warning(at: wallSeconds).map { "\($0); the valid one stays in use" }
        }
    }
}

/// When to warn of the dates of certificates after the start: daily, and as soon as one is no
/// longer valid.
struct CertificateWarnings: Sendable {
    private(set) var certificates: [ServedCertificate]
    private var warnedSeconds: Int64
    private var invalidPaths: Set<String>

    private static let periodSeconds: Int64 = 24 * 3_600

    /// For certificates that were warned of at a time, in seconds since 1970 UTC.
    init(_ certificates: [ServedCertificate], warnedAt wallSeconds: Int64) {
        self.certificates = certificates
        warnedSeconds = wallSeconds
        invalidPaths = certificates.invalidPaths(at: wallSeconds)
    }

    /// Continues with other certificates, which were warned of already.
    mutating func replace(with others: [ServedCertificate], at wallSeconds: Int64) {
        certificates = others
        invalidPaths = others.invalidPaths(at: wallSeconds)
    }

    /// The warnings that are due, a line each. A clock that was set back does not stop them.
    mutating func due(at wallSeconds: Int64) -> [String] {
        let invalid = certificates.invalidPaths(at: wallSeconds)
        let isRecent = (0..<Self.periodSeconds).contains(wallSeconds - warnedSeconds)
        guard !isRecent || !invalid.isSubset(of: invalidPaths) else { return [] }
        warnedSeconds = wallSeconds
        invalidPaths = invalid
        return certificates.warnings(at: wallSeconds)
    }
}
