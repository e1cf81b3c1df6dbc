import Containers

extension Operation {
    /// Account names and their numbers, among 100,000.
    static let names: [Operation] = [
        Operation("names: find") {
            let world = Names()
            return Work { world.find() }
        },
        Operation("names: intern and remove") {
            let world = Names()
            return Work { world.internAndRemove() }
        },
    ]
}

private final class Names {
    private var table = NameTable(seed: 1)
    private let known = (0..<1_000).map { Array("account-\($0 * 100)".utf8) }
    private let unknown = (0..<1_000).map { Array("stranger-\($0)".utf8) }
    private var turn = 0
    private var found = 0

    init() {
        for number in 0..<100_000 { _ = table.intern(Array("account-\(number)".utf8).span) }
    }

    func find() {
        turn = (turn + 1) % known.count
        let name = known[turn]
        guard table.find(name.span) != nil else { preconditionFailure("a name is lost") }
    }

    func internAndRemove() {
        turn = (turn + 1) % unknown.count
        let name = unknown[turn]
        table.remove(table.intern(name.span))
    }
}
