import EventLoop

/// The number of files and sockets that this process may have open.
enum DescriptorLimit {
    /// What the loop and the standard streams take, generously.
    static let spare = 100

    /// Refuses a run that needs more connections than there can be.
    static func require(_ connections: Int) throws(BenchError) {
        let bound = Descriptors.raiseMax()
        guard connections + spare <= bound else {
            throw BenchError(
                "\(connections) connections need \(connections + spare) descriptors, and "
                    + "`ulimit -Hn` allows \(bound): raise it, or ask for fewer.")
        }
    }
}
