/// Elements that are taken in the order in which they were added. O(1) each, on average.
public struct Queue<Element> {
    @usableFromInline var elements: [Element]
    /// Elements at the beginning that have been taken.
    @usableFromInline var takenCount = 0

    /// A queue of these elements.
    @inlinable public init(_ elements: [Element] = []) { self.elements = elements }

    /// Those that wait, in their order.
    @inlinable public var waiting: ArraySlice<Element> { elements[takenCount...] }
    /// Whether none waits.
    @inlinable public var isEmpty: Bool { takenCount == elements.count }
    /// The next one to be taken.
    @inlinable public var first: Element? { isEmpty ? nil : elements[takenCount] }

    /// Adds an element at the end.
    @inlinable public mutating func append(_ element: Element) { elements.append(element) }

    /// Takes the first element; nil if none waits.
    @inlinable public mutating func popFirst() -> Element? {
        guard let element = first else { return nil }
        takenCount += 1
        dropTaken()
        return element
    }

    /// Takes the first element that `isMeant` accepts. O(elements).
    @inlinable public mutating func removeFirst(where isMeant: (Element) -> Bool) -> Element? {
        guard let place = waiting.firstIndex(where: isMeant) else { return nil }
        defer { dropTaken() }
        return elements.remove(at: place)
    }

    /// Drops the taken elements once they are more than half of the array, so that each element is
    /// moved once on average. The memory of a burst is freed when none waits.
    @inlinable mutating func dropTaken() {
        if isEmpty {
            elements = []
        } else if takenCount * 2 > elements.count {
            elements.removeFirst(takenCount)
        } else {
            return
        }
        takenCount = 0
    }
}
