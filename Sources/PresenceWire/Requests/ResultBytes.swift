import Synchronization

/// The bytes of a result of a `MethodCall`. They count as in use until the last reference to them
/// is released.
public final class ResultBytes: Sendable {
    /// The bytes.
    public let bytes: [UInt8]
    private let meter: ResultMeter

    /// Bytes that count in `meter`.
    public init(_ bytes: [UInt8], _ meter: ResultMeter) {
        self.bytes = bytes
        self.meter = meter
        meter.add(bytes.count)
    }

    deinit {
        meter.add(-bytes.count)
    }
}

/// Measures the results that are in use.
public final class ResultMeter: Sendable {
    private let total = Atomic(0)

    /// Without results.
    public init() {}

    /// How many bytes they have.
    public var bytesInUse: Int { total.load(ordering: .relaxed) }

    fileprivate func add(_ byteCount: Int) { total.add(byteCount, ordering: .relaxed) }
}
