/// The newest entries, up to a bound; older ones are overwritten.
///
/// A place counts all entries that were ever made, so that an overwritten one is recognised.
struct Ring<Element> {
    /// The most entries; 0 to keep nothing.
    let countMax: Int
    /// The place of the next entry.
    private(set) var end = 0
    private var elements: [Element] = []
    /// Where the next entry is written, once the ring is full.
    private var oldest = 0

    init(countMax: Int) {
        self.countMax = max(0, countMax)
    }

    /// The places that have not been overwritten.
    var places: Range<Int> { end - elements.count..<end }

    /// The oldest entry that is left, if older ones were overwritten; else nil.
    var oldestLeft: Element? { places.lowerBound > 0 ? self[places.lowerBound] : nil }

    /// The memory of the ring, in bytes.
    var bytesReserved: Int { elements.capacity * MemoryLayout<Element>.stride }

    /// Appends an entry and returns its place and the entry that was overwritten. O(1), amortised
    /// while the ring grows.
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

    /// The entry in a place that was not overwritten. O(1).
    subscript(place: Int) -> Element {
        get { elements[index(of: place)] }
        _modify { yield &elements[index(of: place)] }
    }

    /// Passes the entries to `body`, newest first, until that returns `stop`. As fast as memory is
    /// read.
    func forEachNewestFirst(_ body: (Element) -> Walk) {
        // Once the ring is full, the newest entry is directly before the oldest.
        for index in stride(from: oldest - 1, through: 0, by: -1) where elements.count == countMax {
            if body(elements[index]) == .stop { return }
        }
        let end = elements.count == countMax ? oldest : 0
        for index in stride(from: elements.count - 1, through: end, by: -1) {
            if body(elements[index]) == .stop { return }
        }
    }

    /// Whether a walk continues.
    enum Walk { case on, stop }

    private func index(of place: Int) -> Int {
        precondition(places.contains(place), "a place that was overwritten")
        let index = oldest + (place - places.lowerBound)
        return index < elements.count ? index : index - elements.count
    }
}
