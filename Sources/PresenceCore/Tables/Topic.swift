import Containers

/// One event type of one publisher, while it has subscribers or a state to keep.
struct Topic {
    /// The `seq` of the newest event, or of the state the topic began with.
    var seq: UInt64
    /// Its publisher.
    var account: UInt32
    /// The status in force; `none` if there is none.
    var status = none
    /// Its type.
    var type: EventType
    /// The neighbours among the account's topics of types other than presence, by their types;
    /// `Topics.noType`: none.
    var nextType = Topics.noType
    var previousType = Topics.noType
}

/// Elements with stable numbers; the number of a removed one is reused.
struct Slab<Element> {
    private(set) var elements = ChunkedArray<Element>()
    private var free = ChunkedArray<UInt32>()

    /// The number of elements.
    var count: Int { elements.count - free.count }

    /// Inserts an element and returns its number. O(1).
    mutating func insert(_ element: Element) -> UInt32 {
        if let number = free.popLast() {
            elements[Int(number)] = element
            return number
        }
        elements.append(element)
        return UInt32(elements.count - 1)
    }

    /// Removes an element; its number may be reused. O(1).
    mutating func remove(_ number: UInt32) {
        precondition(Int(number) < elements.count, "an element that is not here")
        free.append(number)
    }

    subscript(number: UInt32) -> Element {
        get { elements[Int(number)] }
        _modify { yield &elements[Int(number)] }
    }
}
