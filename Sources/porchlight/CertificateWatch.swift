import Logging
import NIOCore
import PrometheusText
import Synchronization
import TaskLoops

/// Warns of certificates that are not valid, or not for long, and measures whether all are.
final class CertificateWatch: Sendable {
    private let warnings: Mutex<CertificateWarnings>
    private let logger: Logger
    /// Seconds since 1970 UTC.
    private let wallSeconds: @Sendable () -> Int64

    /// Watches the certificates of `files`, which were warned of already.
    init(_ files: TLSFiles, logger: Logger, wallSeconds: @escaping @Sendable () -> Int64) {
        self.logger = logger
        self.wallSeconds = wallSeconds
        warnings = Mutex(CertificateWarnings(files.certificates, warnedAt: wallSeconds()))
    }

    /// Checks every minute, until the task is cancelled. The wall clock counts, which may be set
    /// meanwhile.
    func begin(on loop: TaskLoop) -> Task<Void, Never> {
        loop.task {
            while (try? await loop.sleep(for: .minutes(1))) != nil { self.check() }
        }
    }

    private func check() {
        let now = wallSeconds()
        for warning in warnings.withLock({ $0.due(at: now) }) { logger.warning("\(warning)") }
    }

    /// Continues with the certificates of a reload, which were warned of already.
    func replace(with files: TLSFiles) {
        let now = wallSeconds()
        warnings.withLock { $0.replace(with: files.certificates, at: now) }
    }

    /// In the Prometheus text format.
    func metricsText() -> [UInt8] {
        let now = wallSeconds()
        let isValid = warnings.withLock { $0.certificates.allSatisfy { $0.isValid(at: now) } }
        var text = MetricsText()
        text.add(
            .gauge, "porchlight_tls_certificate_valid",
            "Whether all certificates of the service are valid: 1, also without TLS, or 0.",
            isValid ? 1 : 0)
        return text.bytes
    }
}
