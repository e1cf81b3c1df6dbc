internal import CSimdJSON

// Bounds-checked views of the shim's tables.
//
// Both views are made from the decoder's document and used within one call of `decode` only: the
// next body overwrites the tables that they show.

/// The members of an object.
@safe
struct Members {
    /// Members that are listed; the shim only counts the rest.
    static let countMax = Int(CSJ_MEMBERS_MAX)

    // SAFETY: points to at least `min(count, countMax)` members.
    private let base: UnsafePointer<csj_member>?
    // SAFETY: points to a number as long as `base` is valid; nil in an empty document.
    private let found: UnsafeMutablePointer<UInt64>?
    /// The number of members, including those beyond `countMax`.
    let count: Int
    /// The first member whose key appears more than once.
    let duplicate: Int?

    init(_ object: csj_object) {
        unsafe base = object.members
        unsafe found = object.found
        count = unsafe Int(object.count)
        duplicate = unsafe object.duplicate == UInt32.max ? nil : Int(object.duplicate)
    }

    subscript(index: Int) -> csj_member {
        precondition(index >= 0 && index < min(count, Self.countMax))
        guard let base = unsafe base else { preconditionFailure("members without a table") }
        return unsafe base[index]
    }

    /// The member with this key, which has been found from now on.
    /// - Complexity: O(n), with few members.
    subscript(key: Word) -> csj_member? {
        for index in 0..<min(count, Self.countMax) where self[index].key == key {
            unsafe found?.pointee |= 1 &<< UInt64(index)
            return self[index]
        }
        return nil
    }

    /// A bit for each member that has been found by its key.
    var foundBits: UInt64 { unsafe found?.pointee ?? 0 }

    /// Whether each of the members, which are at most `countMax`, has been found by its key.
    var areAllFound: Bool { foundBits.nonzeroBitCount == count }
}

/// The elements of the arrays in `params`.
@safe
struct Elements {
    // SAFETY: points to `count` elements.
    private let base: UnsafePointer<csj_element>?
    private let count: Int

    init(_ document: csj_document) {
        unsafe base = document.elements
        count = unsafe Int(document.element_count)
    }

    subscript(index: Int) -> csj_element {
        precondition(index >= 0 && index < count)
        guard let base = unsafe base else { preconditionFailure("elements without a table") }
        return unsafe base[index]
    }
}

extension csj_member {
    /// The key.
    var key: Word { Word(low: key_low, high: key_high, count: key_count) }
    /// The beginning of a string; all of it if it is a word of the protocol.
    var head: Word { Word(low: head_low, high: head_high, count: count) }
}
