// The function that libFuzzer calls. FUZZ_TARGET in the environment names the target, so that one
// program serves all of them.

import Glibc

private let target: FuzzTarget? = getenv("FUZZ_TARGET").flatMap {
    FuzzTarget(rawValue: String(cString: $0))
}

/// Runs one input for the target.
@_cdecl("LLVMFuzzerTestOneInput")
public func runOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let target else {
        require(false, "FUZZ_TARGET names none of the targets")
        return 0
    }
    target.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
