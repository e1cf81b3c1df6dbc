import Containers

/// One event type of one publisher, while somebody watches it or there is something to tell.
struct Topic {
    /// The `seq` of the newest event, or of the state the topic began with.
    var seq: UInt64
    /// Whose.
    var account: UInt32
    /// The status in force; `none` where there is none.
    var status = none
    /// Of what type.
    var type: EventType
}

/// A custom status in force.
struct Status {
    /// Of which topic.
    var topic: UInt32
    /// The app's value.
    var value: Int32
    /// The app's text.
    var ext: [UInt8]?
    /// Whether it waits for those who are away.
    var audience: Audience
    /// When it ends.
    var deadline: Mono
    /// Its entry in the wheel.
    var timer: TimerID
}

/// Elements with stable numbers; the number of a removed one is used again.
struct Slab<Element> {
    private(set) var elements: [Element] = []
    private var free: [UInt32] = []

    /// How many elements there are.
    var count: Int { elements.count - free.count }

    /// Puts an element in and tells its number. O(1).
    mutating func insert(_ element: Element) -> UInt32 {
        if let number = free.popLast() {
            elements[Int(number)] = element
            return number
        }
        growByAnEighth(&elements)
        elements.append(element)
        return UInt32(elements.count - 1)
    }

    /// Forgets an element; its number may be given out again. O(1).
    mutating func remove(_ number: UInt32) {
        free.append(number)
    }

    subscript(number: UInt32) -> Element {
        get { elements[Int(number)] }
        _modify { yield &elements[Int(number)] }
    }
}
