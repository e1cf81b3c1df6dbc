// Places in the arrays of a batch. Each is of one array: the compiler rejects that of another.
//
// 32 bits are enough: a batch is what one turn has, and its memory is bounded by far less.

/// The place of one element.
struct BatchIndex<Element>: Hashable, Sendable {
    private let number: UInt32

    init(_ index: Int) { number = UInt32(index) }

    var index: Int { Int(number) }
}

/// The places of neighbours.
struct BatchRange<Element>: Hashable, Sendable {
    private let start: UInt32
    private let end: UInt32

    init(_ range: Range<Int>) {
        start = UInt32(range.lowerBound)
        end = UInt32(range.upperBound)
    }

    var range: Range<Int> { Int(start)..<Int(end) }
}

/// What `SharedOutput.bytes` consists of: an event, or a list of events, encoded.
enum Body {}

/// What `SharedOutput.stanzas` consists of: an event as presences, or another stanza.
enum Stanzas {}

/// What `LoopOutput.receivers` consists of: the slots of connections of the loop.
enum Receiver {}

extension Array {
    subscript(place: BatchIndex<Element>) -> Element {
        @inline(__always) _read { yield self[place.index] }
    }

    subscript(places: BatchRange<Element>) -> ArraySlice<Element> {
        @inline(__always) get { self[places.range] }
    }
}
