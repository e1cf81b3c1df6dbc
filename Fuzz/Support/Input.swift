import Glibc

/// The bytes of one run, taken from the front; zeros where there are no more.
struct Input {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// A number below `count`, which is at most 256.
    mutating func below(_ count: Int) -> Int { Int(byte()) % count }

    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[below(choices.count)] }

    /// Everything that is left.
    mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}

/// Ends the process with what is wrong; libFuzzer keeps the input.
func require(_ holds: Bool, _ message: @autoclosure () -> String) {
    guard !holds else { return }
    say("BROKEN: \(message())")
    abort()
}

/// Whether to tell what happens, step by step: FUZZ_TRACE in the environment.
let isTracing = getenv("FUZZ_TRACE") != nil

/// Tells what happens, where somebody wants to know.
func trace(_ message: @autoclosure () -> String) {
    if isTracing { say(message()) }
}

private func say(_ text: String) {
    let line = text + "\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
}
