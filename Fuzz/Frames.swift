// Bytes cut into frames: however they come, the same frames come out.
//
// The first two bytes of the input say where the limit lies and how the rest is cut up.

import PresenceWire

/// What came out of a splitter, in a form that can be kept.
private enum Outcome: Equatable {
    case keepAlive
    case frame([UInt8])
    case violation(Int)
}

/// One connection with its splitter.
private struct Reader: PieceReader {
    var splitter = FrameSplitter()
    var outcomes: [Outcome] = []
    var bytesFed = 0
    var bytesOut = 0
    let bodyBytesMax: Int
    private(set) var isOver = false

    /// Reads what has come; stops after each frame, if `stops` says so, as an owner does whose
    /// request waits for the store.
    mutating func feed(_ chunk: ArraySlice<UInt8>, stops: Bool) {
        bytesFed += chunk.count
        var offset = 0
        var span = RawSpan()
        let bytes = Array(chunk)
        span = bytes.span.bytes
        while !isOver {
            let outcome = splitter.next(in: span, from: &offset, bodyBytesMax: bodyBytesMax)
            note(outcome, span)
            if outcome == .needMore { break }
            if stops, !isOver {
                splitter.keep(span, from: &offset)
                require(offset == span.byteCount, "keep left something in the chunk")
                span = RawSpan()
                offset = 0
            }
        }
        check()
    }

    private mutating func note(_ outcome: FrameOutcome, _ chunk: RawSpan) {
        switch outcome {
        case .needMore: break
        case .keepAlive:
            bytesOut += 4
            outcomes.append(.keepAlive)
        case .frame(let body):
            let copy = splitter.withBody(body, in: chunk) { span in
                span.withUnsafeBytes { Array($0) }
            }
            require(copy.count == body.count, "a body of another length")
            require(copy.count <= bodyBytesMax, "a body over the limit")
            bytesOut += 4 + copy.count
            outcomes.append(.frame(copy))
        case .violation(let claimed):
            require(claimed > bodyBytesMax, "a violation within the limit")
            outcomes.append(.violation(claimed))
            isOver = true
        }
    }

    private func check() {
        guard !isOver else { return }
        require(bytesOut + splitter.bytesBuffered == bytesFed, "bytes were lost or doubled")
        require(splitter.bytesBuffered < 4 + bodyBytesMax, "a whole frame was kept back")
        // Memory is for bytes that have come, never for what a length claims.
        require(splitter.bytesAllocated <= 2 * bytesFed + 64, "memory for what has not come")
        if splitter.bytesBuffered == 0 {
            require(splitter.bytesAllocated == 0, "memory for nothing")
        }
    }
}

/// Cuts one input up in several ways.
func fuzzFrames(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let bodyBytesMax = input.pick([0, 1, 7, 64, 255, 4_096, 65_536])
    let cuts = UInt64(input.byte()) &+ 1
    let bytes = input.remainder()
    _ = checkCuts(bytes, seed: cuts) { Reader(bodyBytesMax: bodyBytesMax) }
}
