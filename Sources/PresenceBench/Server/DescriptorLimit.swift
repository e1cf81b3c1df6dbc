import EventLoop

/// The limit on open descriptors of this process.
enum DescriptorLimit {
    /// A generous number for the loop and the standard streams.
    static let spare = 100

    /// Throws if a run needs more connections than the limit allows.
    static func require(_ connections: Int) throws(BenchError) {
        let bound = Descriptors.raiseMax()
        guard connections + spare <= bound else {
            throw BenchError(
                "\(connections) connections need \(connections + spare) descriptors, and "
                    + "`ulimit -Hn` allows \(bound): raise it, or ask for fewer.")
        }
    }
}
