/// A dictionary in parts that grow one by one, so that no insertion takes long, whatever its size.
///
/// A Swift dictionary that is full is hashed again as a whole, some 100 ns an entry. Here an
/// insertion hashes one part again at most, about a 1,024th of the entries.
public struct PartedDictionary<Key: FixedWidthInteger & Sendable, Value> {
    @usableFromInline var parts: [[Key: Value]]
    @usableFromInline var total = 0

    @inlinable static var partBits: Int { 10 }

    /// A dictionary without entries.
    @inlinable public init() { parts = Array(repeating: [:], count: 1 << Self.partBits) }

    /// The number of entries.
    @inlinable public var count: Int { total }
    /// Whether there are no entries.
    @inlinable public var isEmpty: Bool { total == 0 }

    /// The part of a key: the highest bits of a product, which all of its bits determine.
    @inlinable static func part(of key: Key) -> Int {
        let mixed = UInt64(truncatingIfNeeded: key) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed &>> UInt64(64 - partBits))
    }

    /// The value of a key; nil: it has none. O(1), and O(entries / 1,024) where a part grows.
    @inlinable public subscript(key: Key) -> Value? {
        get { total == 0 ? nil : parts[Self.part(of: key)][key] }
        _modify {
            let part = Self.part(of: key)
            let before = parts[part].count
            defer { total += parts[part].count - before }
            yield &parts[part][key]
        }
    }

    /// The value of a key, or the default, which a change adds. As above.
    @inlinable public subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
        get { self[key] ?? value() }
        _modify {
            let part = Self.part(of: key)
            let before = parts[part].count
            defer { total += parts[part].count - before }
            yield &parts[part][key, default: value()]
        }
    }

    /// Sets the value of a key and returns the one before. As above.
    @inlinable @discardableResult
    public mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
        let before = parts[Self.part(of: key)].updateValue(value, forKey: key)
        if before == nil { total += 1 }
        return before
    }

    /// Removes a key and returns its value. O(1).
    @inlinable @discardableResult
    public mutating func removeValue(forKey key: Key) -> Value? {
        guard total > 0, let value = parts[Self.part(of: key)].removeValue(forKey: key) else {
            return nil
        }
        total -= 1
        return value
    }

    /// The keys, in no particular order. O(n).
    @inlinable public var keys: [Key] { parts.flatMap(\.keys) }
    /// The values, in no particular order. O(n).
    @inlinable public var values: [Value] { parts.flatMap(\.values) }
    /// All of it, in no particular order, without an array of it.
    @inlinable public var entries: some Sequence<(key: Key, value: Value)> {
        parts.lazy.flatMap { part in part.lazy.map { (key: $0.key, value: $0.value) } }
    }
    /// The entries of the part that has most of them. O(parts).
    @inlinable public var largestPartCount: Int { parts.reduce(0) { Swift.max($0, $1.count) } }
}

extension PartedDictionary: Sendable where Value: Sendable {}
