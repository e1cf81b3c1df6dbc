// Names and lists of names: which names are valid, and that duplicates count once.

internal import CSimdJSON
internal import PresenceCore

extension RequestDecoder {
    /// Reads a list of names; by default, of accounts.
    ///
    /// Duplicates count once, at their first position.
    mutating func readNames(
        _ parameter: Parameter, countMax: Int, bytesMax: Int? = nil
    ) throws(Rejection) -> NameList? {
        guard let member = params[parameter.key] else { return nil }
        guard member.kind == CSJ_ARRAY else {
            throw Rejection(.wrongType, field: parameter.field)
        }
        guard member.count > 0 else {
            throw Rejection(.outOfRange, field: parameter.field, min: 1, max: countMax)
        }
        let start = names.count
        let elements = elements
        nameSet.removeAll(for: min(Int(member.count), countMax))
        for index in Int(member.start)..<Int(member.start) + Int(member.count) {
            let element = elements[index]
            guard element.kind == CSJ_STRING else {
                throw Rejection(
                    .wrongType, field: parameter.field, index: index - Int(member.start))
            }
            let range = ByteRange(start: Int32(element.start), count: Int32(element.count))
            try checkName(
                range, parameter, bytesMax: bytesMax ?? limits.accountBytesMax,
                index: index - Int(member.start))
            guard nameSet.isNew(range, hash: element.hash, names, from: start, text) else {
                continue
            }
            guard names.count - start < countMax else {
                throw Rejection(.tooMany, field: parameter.field, limit: countMax)
            }
            names.append(range)
            nameSet.insertLast(hash: element.hash, names.count - start)
        }
        return NameList(start: Int32(start), count: Int32(names.count - start))
    }

    /// Reads a list of texts of any kind, with repeats.
    mutating func readTexts(_ parameter: Parameter) throws(Rejection) -> NameList? {
        guard let member = params[parameter.key] else { return nil }
        guard member.kind == CSJ_ARRAY else {
            throw Rejection(.wrongType, field: parameter.field)
        }
        let start = names.count
        let elements = elements
        for index in Int(member.start)..<Int(member.start) + Int(member.count) {
            let element = elements[index]
            guard element.kind == CSJ_STRING else {
                throw Rejection(
                    .wrongType, field: parameter.field, index: index - Int(member.start))
            }
            names.append(ByteRange(start: Int32(element.start), count: Int32(element.count)))
        }
        return NameList(start: Int32(start), count: Int32(names.count - start))
    }

    /// Rejects names that are empty, too long, begin or end with a space, or have control
    /// characters (C0, DEL and C1). `index` is the place in a list.
    func checkName(
        _ range: ByteRange, _ parameter: Parameter, bytesMax: Int, index: Int? = nil
    ) throws(Rejection) {
        guard range.count <= bytesMax else {
            throw Rejection(
                .tooLong, field: parameter.field, limit: bytesMax, count: Int(range.count),
                index: index)
        }
        guard isName(range) else {
            throw Rejection(.invalidName, field: parameter.field, limit: bytesMax, index: index)
        }
    }

    private func isName(_ range: ByteRange) -> Bool {
        let (start, count) = (Int(range.start), Int(range.count))
        let name = text.span.extracting(start..<start + count)
        if isPlain(start, count) { return name[0] != 0x20 && name[count - 1] != 0x20 }
        return NameRule.admits(name)
    }

    /// Whether no byte can belong to a control character, eight at a time.
    ///
    /// The last eight overlap the previous ones; shorter texts are not checked.
    /// https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord
    private func isPlain(_ start: Int, _ count: Int) -> Bool {
        guard count >= 8 else { return false }
        let bytes = unsafe text.span.bytes
        let ones: UInt64 = 0x0101_0101_0101_0101
        var found: UInt64 = 0
        var offset = 0
        while offset < count {
            let place = start + min(offset, count - 8)
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
            let delete = word ^ (ones &* 0x7F)
            let lead = word ^ (ones &* 0xC2)
            found |= (word &- ones &* 0x20) & ~word
            found |= (delete &- ones) & ~delete
            found |= (lead &- ones) & ~lead
            offset += 8
        }
        return found & (ones &* 0x80) == 0
    }
}

/// The names that a list already has: open addressing over positions in the list.
///
/// At most half full. Hashes are keyed per process, so that clients cannot construct names that
/// collide.
struct NameSet {
    private struct Slot {
        var hash: UInt32 = 0
        /// The position in the list, from 1; 0 if the slot is free.
        var place: UInt32 = 0
    }

    private var slots: [Slot] = []
    private var mask = 0

    /// Removes all names and reserves space for `count` names.
    mutating func removeAll(for count: Int) {
        var size = 4
        while size < count * 2 { size *= 2 }
        mask = size - 1
        let kept = min(size, slots.count)
        for index in 0..<kept { slots[index] = Slot() }
        if kept < size {
            slots.append(contentsOf: repeatElement(Slot(), count: size - kept))
        }
    }

    /// Whether the name is not yet in the list that begins at `start`.
    func isNew(
        _ range: ByteRange, hash: UInt32, _ names: [ByteRange], from start: Int, _ text: [UInt8]
    ) -> Bool {
        var slot = Int(hash) & mask
        while slots[slot].place != 0 {
            let entry = slots[slot]
            if entry.hash == hash,
                isEqual(range, names[start + Int(entry.place) - 1], in: text)
            {
                return false
            }
            slot = (slot + 1) & mask
        }
        return true
    }

    /// Records the name that was added to the list last, at this position from 1.
    mutating func insertLast(hash: UInt32, _ place: Int) {
        var slot = Int(hash) & mask
        while slots[slot].place != 0 { slot = (slot + 1) & mask }
        slots[slot] = Slot(hash: hash, place: UInt32(place))
    }

    private func isEqual(_ a: ByteRange, _ b: ByteRange, in text: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        for offset in 0..<Int(a.count)
        where text[Int(a.start) + offset] != text[Int(b.start) + offset] {
            return false
        }
        return true
    }
}
