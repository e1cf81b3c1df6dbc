import Containers
import Passwords
import PresenceCore
import PresenceStore
import Testing

@testable import PresenceServer

@Suite struct `Tasks with passwords` {
    private func task(
        _ account: String, _ goal: PasswordTask.Goal, of slot: UInt32 = 1
    ) -> PasswordTask {
        PasswordTask(
            connection: ConnectionID(slot: slot, generation: 1), account: Array(account.utf8),
            origin: ConnectionOrigin(address: [], network: nil), goal: goal)
    }

    @Test func `change an account one at a time, and are read beside each other`() throws {
        var tasks = PasswordTasks(seed: 7)
        let password = try Password(Array("pencil".utf8))
        let begun = tasks.begin(task("amy", .set(password)))
        let first = try #require(begun)
        #expect(tasks.begin(task("amy", .remove, of: 2)) == nil)
        #expect(tasks.begin(task("amy", .register(password), of: 3)) == nil)
        let others = [
            tasks.begin(task("amy", .challenge, of: 4)), tasks.begin(task("bob", .remove, of: 5)),
        ]
        #expect(others.allSatisfy { $0 != nil })
        #expect(tasks.count == 3)
        let isAwaited = tasks.end(first)
        #expect(isAwaited)
        let next = tasks.begin(task("amy", .remove, of: 2))
        #expect(next != nil)
    }

    @Test func `prove nothing once the password has changed`() throws {
        var tasks = PasswordTasks(seed: 7)
        let connections = (1...3).map { ConnectionID(slot: $0, generation: 1) }
        _ = tasks.begin(task("amy", .challenge, of: 1))
        _ = tasks.begin(task("bob", .challenge, of: 2))
        _ = tasks.begin(task("amy", .remove, of: 3))
        tasks.proofs.passwordChanged(of: Array("amy".utf8))
        #expect(connections.map { tasks.proofs.isVoid($0) } == [true, false, false])
        // It proves it again, with the new one.
        _ = tasks.begin(task("amy", .challenge, of: 1))
        #expect(!tasks.proofs.isVoid(connections[0]))
        tasks.proofs.passwordChanged(of: Array("amy".utf8))
        tasks.forget(connections[0])
        #expect(!tasks.proofs.isVoid(connections[0]))
    }

    @Test func `of one network are at most as many as it leaves to others`() throws {
        var tasks = PasswordTasks(seed: 7)
        var limits = AdmissionLimits()
        limits.tokensMax = 8
        let one = ClientNetwork(address: [192, 0, 2, 1])
        let other = ClientNetwork(address: [192, 0, 2, 2])
        func begin(_ slot: UInt32) -> UInt64? {
            var task = task("amy", .challenge, of: slot)
            task.origin.network = one
            return tasks.begin(task)
        }
        let numbers = [begin(1), begin(2), begin(3), begin(4)]
        #expect(!tasks.hasRoom(for: one, limits))
        #expect(tasks.hasRoom(for: other, limits))
        #expect(tasks.hasRoom(for: nil, limits))
        _ = tasks.end(try #require(numbers[0]))
        #expect(tasks.hasRoom(for: one, limits))
    }

    @Test func `are compared for a network as often at once as they may be wrong`() {
        var comparisons = PasswordComparisons()
        let one = ClientNetwork(address: [192, 0, 2, 1])
        let other = ClientNetwork(address: [192, 0, 2, 2])
        func next(_ network: ClientNetwork?, _ countMax: Int) -> UInt64? {
            comparisons.next(of: network, countMax: countMax)?.number
        }
        for number in 1...4 {
            comparisons.add(
                PasswordWork(number: UInt64(number), kind: .compare(typed: [], decoy)), of: one)
        }
        comparisons.add(PasswordWork(number: 5, kind: .compare(typed: [], decoy)), of: other)
        #expect([next(one, 2), next(one, 2), next(one, 2)] == [1, 2, nil])
        #expect(next(other, 1) == 5)
        comparisons.end(of: one)
        #expect([next(one, 2), next(one, 2)] == [3, nil])
        comparisons.end(of: one)
        comparisons.end(of: one)
        #expect([next(one, 1), next(one, 1)] == [4, nil])
        comparisons.end(of: one)
        comparisons.end(of: other)
        #expect(comparisons.networkCount == 0)
    }

    private var decoy: StoredKeys { StoredKeys(decoyFor: [97], secret: [1]) }

    @Test func `of a connection that has ended give their account back`() throws {
        var tasks = PasswordTasks(seed: 7)
        let begun = tasks.begin(task("amy", .remove))
        let number = try #require(begun)
        tasks.forget(task("amy", .remove).connection)
        #expect(!tasks.isAwaited(tasks.running(number).task))
        let isAwaited = tasks.end(number)
        #expect(!isAwaited)
        let next = tasks.begin(task("amy", .remove))
        #expect(next != nil)
    }

    @Test func `count what is stored`() {
        var tasks = PasswordTasks(stored: StoredPasswords(count: 3, secret: [1]), seed: 7)
        tasks.noteStored(.remove, hadKeys: true)
        #expect(tasks.storedCount == 2)
        if let password = try? Password(Array("pencil".utf8)) {
            tasks.noteStored(.register(password), hadKeys: false)
            tasks.noteStored(.set(password), hadKeys: true)
            tasks.noteStored(.set(password), hadKeys: false)
        }
        #expect(tasks.storedCount == 4)
        #expect(tasks.counters.registered == 1)
    }

    @Test func `being stored are counted until they are`() throws {
        var tasks = PasswordTasks(seed: 7)
        let begun = tasks.begin(task("amy", .remove))
        let number = try #require(begun)
        tasks.enter(number, .storing(hadKeys: true))
        #expect(tasks.storingCount == 1)
        _ = tasks.end(number)
        #expect(tasks.storingCount == 0)
    }

    @Test func `make decoys that stay with the database`() {
        let tasks = PasswordTasks(stored: StoredPasswords(count: 0, secret: [1, 2]), seed: 7)
        let again = PasswordTasks(stored: StoredPasswords(count: 0, secret: [1, 2]), seed: 8)
        let other = PasswordTasks(stored: StoredPasswords(count: 0, secret: [3]), seed: 7)
        let name = Array("nobody".utf8)
        #expect(tasks.decoys(for: name) == again.decoys(for: name))
        #expect(tasks.decoys(for: name) != other.decoys(for: name))
    }

    @Test func `compare and derive`() throws {
        let password = try Password(Array("pencil".utf8))
        let derived = PasswordWork(number: 1, kind: .derive(password)).result()
        guard case .derived(let keys) = derived.kind else { throw UnexpectedError() }
        // As the row of the store has them.
        let row = CredentialRow(account: [97], keys, created: Wall(milliseconds: 5))
        let stored = try #require(StoredKeys(row))
        #expect(stored == keys)
        for (typed, isRight) in [("pencil", true), ("Pencil", false), ("", false)] {
            let result = PasswordWork(
                number: 2, kind: .compare(typed: Array(typed.utf8), stored)
            ).result()
            guard case .compared(let matches) = result.kind else { throw UnexpectedError() }
            #expect(matches == isRight)
        }
    }

    struct UnexpectedError: Error {}
}
