// Passwords. Keys are not kept in memory: a task reads them from the store, has what was typed
// compared or new keys derived on a thread for that, and has them stored. Its connection waits like
// one whose token is verified. If it ends meanwhile, nothing further is begun for it.

import Containers
import Logging
import Passwords
import PresenceCore
import PresenceStore
import PresenceWire

extension EngineHost {
    /// Begins a task; the answer follows. `method` says what room it needs.
    mutating func begin(
        _ task: PasswordTask, as method: MethodName, at now: Moment
    ) throws(Rejection) {
        guard configuration.passwords != .none, passwords.thread != nil else {
            throw Rejection(CredentialError.passwordsNotTaken)
        }
        try checkRoom(for: method, at: now)
        // Guessing must not pay: an address that has failed too often has to wait, even with the
        // right password.
        if !task.goal.isChange { try checkGuesses(from: task.origin, at: now.mono) }
        guard passwords.hasRoom(for: task.origin.network, configuration.admission) else {
            passwords.counters.rejected += 1
            throw transientRejection(.overloaded)
        }
        guard let number = passwords.begin(task) else {
            // Another is about to register it.
            if case .register = task.goal {
                return output.append(.credentials(.nameTaken), for: task.connection)
            }
            throw transientRejection(.overloaded)
        }
        store.submit(.credential(account: task.account), token: number)
    }

    /// Sets or removes the password of an account, for an app server.
    mutating func changePassword(
        _ change: PasswordChange, _ texts: TextSource, by connection: ConnectionID, at now: Moment
    ) throws(Rejection) {
        guard configuration.passwords != .none else {
            // The key is right; there is nothing that it could change.
            var rejection = Rejection(.forbidden)
            rejection.credentialError = .passwordsNotTaken
            throw rejection
        }
        let goal: PasswordTask.Goal
        if let password = change.password {
            goal = .set(try Rejection.password(texts.bytes(password)))
        } else {
            goal = .remove
        }
        try begin(
            PasswordTask(
                connection: connection, account: texts.bytes(change.account),
                origin: ConnectionOrigin(address: [], network: nil), goal: goal),
            as: change.password == nil ? .removePassword : .setPassword, at: now)
    }

    // MARK: Steps

    /// Continues a task whose keys have been read.
    mutating func reportKeys(
        _ row: ReadOutcome.Content<CredentialRow?>, of number: UInt64, at now: Moment
    ) {
        carryOut(number) { host throws(Rejection) in
            try host.proceed(number, with: row, at: now)
        }
    }

    /// Continues tasks whose passwords have been compared or keys derived.
    mutating func report(_ results: [PasswordResult], at now: Moment) {
        for result in results {
            let origin = passwords.running(result.number).task.origin
            let rejection = note(result, from: origin, at: now.mono)
            carryOut(result.number) { host throws(Rejection) in
                if let rejection { throw rejection }
                try host.proceed(with: result, at: now)
            }
            compareNext(of: origin.network, at: now.mono)
            sort(at: now)
        }
    }

    /// Counts a password that was compared, whether or not its connection still waits: guesses must
    /// not become free by that they are given up. Returns why its client is rejected, if it is.
    private mutating func note(
        _ result: PasswordResult, from origin: ConnectionOrigin, at now: Mono
    ) -> Rejection? {
        guard case .compared(let isPassword) = result.kind else { return nil }
        passwords.counters.compared += 1
        if !isPassword { passwords.counters.mismatched += 1 }
        passwords.comparisons.end(of: origin.network)
        do throws(Rejection) {
            try answerGuess(isPassword, from: origin, at: now)
            return nil
        } catch {
            return error
        }
    }

    /// Rejects a wrong password, and charges its address. While that has to wait, right and wrong
    /// ones are rejected alike and nothing is charged: many guesses at once say no more than the
    /// rate limit allows, neither by their answers nor by how long the address has to wait.
    mutating func answerGuess(
        _ isRight: Bool, from origin: ConnectionOrigin, at now: Mono
    ) throws(Rejection) {
        try checkGuesses(from: origin, at: now)
        guard !isRight else { return }
        noteFailedPassword(of: origin.network, at: now)
        throw Rejection(CredentialError.password)
    }

    /// Rejects a guess from an address that has to wait.
    private mutating func checkGuesses(
        from origin: ConnectionOrigin, at now: Mono
    ) throws(Rejection) {
        guard let wait = failedLoginWait(of: origin.network, at: now) else { return }
        passwords.counters.rejectedForGuesses += 1
        logger.log(
            .warning, "logins rejected: too many wrong passwords from an address",
            times: passwords.counters.rejectedForGuesses,
            metadata: ["address": "\(String(decoding: origin.address, as: UTF8.self))"])
        throw .tooOften(waitMilliseconds: wait)
    }

    /// Has passwords compared that were typed at a network: no more at once than may be wrong. Of a
    /// network that has to wait none is, and those that wait for their turn are rejected.
    private mutating func compareNext(of network: ClientNetwork?, at now: Mono) {
        while let work = passwords.comparisons.next(
            of: network, countMax: guessesLeft(of: network, at: now))
        {
            let task = passwords.running(work.number).task
            guard passwords.isAwaited(task) else {
                passwords.comparisons.end(of: network)
                _ = passwords.end(work.number)
                continue
            }
            do throws(Rejection) {
                try checkGuesses(from: task.origin, at: now)
                passwords.thread?.submit(work)
            } catch {
                passwords.comparisons.end(of: network)
                reject(work.number, error)
            }
        }
    }

    /// Takes a step of a task, unless no connection waits for it any more.
    private mutating func carryOut(
        _ number: UInt64, _ step: (inout Self) throws(Rejection) -> Void
    ) {
        let task = passwords.running(number).task
        guard passwords.isAwaited(task) else {
            _ = passwords.end(number)
            return
        }
        do throws(Rejection) {
            try checkServing()
            try step(&self)
        } catch {
            reject(number, error)
        }
    }

    private mutating func proceed(
        _ number: UInt64, with content: ReadOutcome.Content<CredentialRow?>, at now: Moment
    ) throws(Rejection) {
        let task = passwords.running(number).task
        let row: CredentialRow?
        switch content {
        case .success(let found): row = found
        case .failure(let error):
            noteStoreFailure(.read, error)
            throw transientRejection(.storeUnavailable)
        }
        switch task.goal {
        case .logIn(let typed, _):
            let stored = keys(in: row, of: task)
            passwords.enter(number, .deriving(hadKeys: row != nil))
            passwords.comparisons.add(
                PasswordWork(number: number, kind: .compare(typed: typed, stored)),
                of: task.origin.network)
            compareNext(of: task.origin.network, at: now.mono)
        case .challenge:
            answer(number, .keys(keys(in: row, of: task)))
        case .register(let password):
            // The new client would have the contacts and statuses of another user.
            guard row == nil, !engine.belongsToSomebody(task.account.span),
                !cards.has(task.account)
            else {
                return answer(number, .nameTaken)
            }
            guard passwords.storedCount < configuration.admission.passwordsMax else {
                return answer(number, .registrationsFull)
            }
            derive(.derive(password), number, hadKeys: false)
        case .set(let password):
            derive(.derive(password), number, hadKeys: row != nil)
        case .remove:
            guard row != nil else {
                return answer(number, .passwordRemoved(false))
            }
            store(.removeCredential(account: task.account), number, hadKeys: true)
        }
    }

    private mutating func proceed(
        with result: PasswordResult, at now: Moment
    ) throws(Rejection) {
        let running = passwords.running(result.number)
        guard case .deriving(let hadKeys) = running.step else {
            preconditionFailure("a password that was not to be compared")
        }
        switch (running.task.goal, result.kind) {
        case (.logIn(_, let purpose), .compared):
            guard !passwords.proofs.isVoid(running.task.connection) else {
                throw Rejection(CredentialError.password)
            }
            _ = passwords.end(result.number)
            logIn(running.task, purpose, at: now)
        case (.register, .derived(let keys)), (.set, .derived(let keys)):
            let row = CredentialRow(account: running.task.account, keys, created: now.wall)
            store(.putCredential(row), result.number, hadKeys: hadKeys)
        default: preconditionFailure("the result of another task")
        }
    }

    /// The change of a task is stored, or cannot be.
    mutating func reportPassword(_ number: UInt64, _ result: Outcome.Result) {
        let running = passwords.running(number)
        guard case .storing(let hadKeys) = running.step else {
            preconditionFailure("a password that was not to be stored")
        }
        let task = running.task
        switch result {
        case .committed:
            passwords.noteStored(task.goal, hadKeys: hadKeys)
            passwords.proofs.passwordChanged(of: task.account)
            switch task.goal {
            case .register:
                answer(number, .registered)
            case .remove:
                answer(number, .passwordRemoved(true))
            default:
                answer(number, .passwordSet(replaced: hadKeys))
            }
        case .failed(let error), .reserved(let error):
            noteStoreFailure(.write, error)
            reject(number, transientRejection(.storeUnavailable))
        }
    }

    // MARK: Parts of steps

    private mutating func keys(in row: CredentialRow?, of task: PasswordTask) -> StoredKeys {
        // Made in any case: the time that they take would reveal which accounts have a password.
        let decoys = passwords.decoys(for: task.account)
        guard let row else { return decoys }
        guard let keys = StoredKeys(row) else {
            counters.storeFailures += 1
            logger.log(
                .error, "stored keys of a password are damaged; set it again",
                times: counters.storeFailures, metadata: [:])
            return decoys
        }
        return keys
    }

    private mutating func derive(_ work: PasswordWork.Kind, _ number: UInt64, hadKeys: Bool) {
        passwords.enter(number, .deriving(hadKeys: hadKeys))
        passwords.thread?.submit(PasswordWork(number: number, kind: work))
    }

    private mutating func store(_ write: Write, _ number: UInt64, hadKeys: Bool) {
        passwords.enter(number, .storing(hadKeys: hadKeys))
        submissions.append(Submission(ticket: StoreTicket(number, of: .password), write: write))
    }

    /// Ends a task with an answer, if its connection waits for one.
    private mutating func answer(_ number: UInt64, _ answer: QuestionAnswer) {
        let connection = passwords.running(number).task.connection
        guard passwords.end(number) else { return }
        output.append(.answerQuestion(answer), for: connection)
    }

    /// Ends a task with the answer to the credentials of an XMPP client, if it waits for one.
    private mutating func answer(_ number: UInt64, _ answer: CredentialAnswer) {
        let connection = passwords.running(number).task.connection
        guard passwords.end(number) else { return }
        output.append(.credentials(answer), for: connection)
    }

    /// Ends a task with a rejection, if its connection waits for an answer.
    private mutating func reject(_ number: UInt64, _ rejection: Rejection) {
        let connection = passwords.running(number).task.connection
        guard passwords.end(number) else { return }
        reject(connection, rejection)
    }

    private mutating func logIn(
        _ task: PasswordTask, _ purpose: TokenRequest.Purpose, at now: Moment
    ) {
        switch purpose {
        case .login(let device):
            passwords.proofs.end(task.connection)
            logIn(device.login(of: task.account), of: task.connection, at: now)
        case .authentication:
            authenticated(task.connection, as: task.account, .password, at: now.mono)
        case .refresh: preconditionFailure("a session is not continued with a password")
        }
    }
}

extension Rejection {
    /// The password, prepared; or why it cannot be one.
    static func password(_ typed: [UInt8]) throws(Rejection) -> Password {
        do throws(PasswordError) {
            return try Password(typed)
        } catch {
            switch error {
            case .tooLong:
                throw Rejection(
                    .tooLong, field: .password, limit: Password.bytesMax, count: typed.count)
            case .empty, .notUTF8, .forbiddenCharacter, .mixedDirections:
                throw Rejection(.invalidName, field: .password, limit: Password.bytesMax)
            }
        }
    }
}
