internal import CSimdJSON

// What the shim lists, as something that cannot be read out of bounds.
//
// Both views are made from the decoder's document, used within one call of `decode` and kept
// by nobody: the tables they show are overwritten by the next body.

/// The members of an object.
@safe
struct Members {
    /// Members that are looked at; the shim counts the rest only.
    static let countMax = Int(CSJ_MEMBERS_MAX)

    // SAFETY: points to at least `min(count, countMax)` members.
    private let base: UnsafePointer<csj_member>?
    /// How many the object has, those beyond `countMax` included.
    let count: Int
    /// The first whose key stands there twice.
    let duplicate: Int?

    init(_ object: csj_object) {
        unsafe base = object.members
        count = unsafe Int(object.count)
        duplicate = unsafe object.duplicate == UInt32.max ? nil : Int(object.duplicate)
    }

    subscript(index: Int) -> csj_member {
        precondition(index >= 0 && index < min(count, Self.countMax))
        guard let base = unsafe base else { preconditionFailure("members without a table") }
        return unsafe base[index]
    }

    /// The member with this key.
    /// - Complexity: O(n): there are a handful.
    subscript(key: Word) -> csj_member? {
        for index in 0..<min(count, Self.countMax) where self[index].key == key {
            return self[index]
        }
        return nil
    }
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
    /// The beginning of a string; all of it where it is one of our words.
    var head: Word { Word(low: head_low, high: head_high, count: count) }
}
