import Operations

/// `Instructions` lists the operations; `Instructions NAME RUNS` does one, for callgrind to count.
@main
struct Instructions {
    static func main() {
        let words = CommandLine.arguments
        guard words.count == 3, let runs = Int(words[2]),
            let operation = Operation.all.first(where: { $0.name == words[1] })
        else {
            for operation in Operation.all { print("\(operation.perRun)\t\(operation.name)") }
            return
        }
        let work = operation.make()
        for _ in 0..<runs { work.run() }
    }
}
