/// The newest of what was noted, up to a bound; what is older is overwritten.
///
/// A place counts all that was ever noted, so that one that was overwritten is known to be.
struct Ring<Element> {
    /// How many there are at most; 0: nothing is kept.
    let countMax: Int
    /// The place that the next will have.
    private(set) var end = 0
    private var elements: [Element] = []
    /// Where the next goes, once the ring is full.
    private var oldest = 0

    init(countMax: Int) {
        self.countMax = max(0, countMax)
    }

    /// The places that are still there.
    var places: Range<Int> { end - elements.count..<end }

    /// The oldest that is left, where older ones were overwritten; nil: none was.
    var oldestLeft: Element? { places.lowerBound > 0 ? self[places.lowerBound] : nil }

    /// Bytes that the ring holds.
    var bytesReserved: Int { elements.capacity * MemoryLayout<Element>.stride }

    /// Notes something and tells its place and what was overwritten. O(1), amortised while the
    /// ring grows.
    @discardableResult
    mutating func append(_ element: Element) -> (place: Int, overwritten: Element?) {
        let place = end
        guard countMax > 0 else { return (place, nil) }
        end += 1
        guard elements.count == countMax else {
            elements.append(element)
            return (place, nil)
        }
        let overwritten = elements[oldest]
        elements[oldest] = element
        oldest = oldest + 1 == countMax ? 0 : oldest + 1
        return (place, overwritten)
    }

    /// What is in a place that is still there. O(1).
    subscript(place: Int) -> Element {
        get { elements[index(of: place)] }
        _modify { yield &elements[index(of: place)] }
    }

    /// Shows what is there to `body`, the newest first, until that tells to stop. As fast as
    /// memory is read.
    func forEachNewestFirst(_ body: (Element) -> Walk) {
        // Once the ring is full, the newest stands before the oldest.
        for index in stride(from: oldest - 1, through: 0, by: -1) where elements.count == countMax {
            if body(elements[index]) == .stop { return }
        }
        let end = elements.count == countMax ? oldest : 0
        for index in stride(from: elements.count - 1, through: end, by: -1) {
            if body(elements[index]) == .stop { return }
        }
    }

    /// Whether a walk goes on.
    enum Walk { case on, stop }

    private func index(of place: Int) -> Int {
        precondition(places.contains(place), "a place that was overwritten")
        let index = oldest + (place - places.lowerBound)
        return index < elements.count ? index : index - elements.count
    }
}
