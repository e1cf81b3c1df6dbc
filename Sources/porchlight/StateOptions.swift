// What the verbs about states check before they connect. An account that logs in, and then out
// because its request is rejected, would be seen by all of its subscribers.

import ArgumentParser
import Foundation
import PresenceClient
import PresenceCore

/// The type of state that a verb is about, and whether limits are checked here.
struct StateOptions: ParsableArguments {
    @Option(help: "The type of state: 1 is presence, 100 to 65535 are an app's own.")
    var type = 1

    @Flag(help: "Leave limits to the service, for one whose limits are not the defaults.")
    var unchecked = false

    func validate() throws {
        guard let limits, type != 1 else { return }
        try checkNumber(
            type, as: "--type", in: limits.customTypeMin...limits.customTypeMax, before: "1, or ")
    }

    /// The limits to check; nil if they are left to the service, which may have others.
    var limits: Limits? { unchecked ? nil : Limits() }

    /// Checks the name of an account.
    func checkAccount(_ name: String, as label: String) throws {
        try checkAccountName(name, as: label, bytesMax: limits?.accountBytesMax)
    }

    /// Checks names of accounts, and that there are not too many of them.
    func checkAccounts(_ names: [String], as label: String, countMax: Int? = nil) throws {
        for name in names { try checkAccount(name, as: label) }
        let count = Set(names.map { Array($0.utf8) }).count
        guard let countMax, count > countMax else { return }
        throw ValidationError(tooManyAccountsText(count, as: label, countMax))
    }

    /// Checks a number that was typed.
    func checkNumber(
        _ number: Int, as label: String, in range: ClosedRange<Int>, before: String = "",
        after: String = ""
    ) throws {
        guard limits != nil, !range.contains(number) else { return }
        throw ValidationError(
            "\(label) \(number) is out of range: give \(before)\(range.lowerBound) to "
                + "\(range.upperBound)\(after). \(Self.hint)")
    }

    /// Checks the length of a text that was typed.
    func checkText(_ text: String, as label: String, bytesMax: Int) throws {
        guard limits != nil, text.utf8.count > bytesMax else { return }
        throw ValidationError(
            "\(label) has \(text.utf8.count) bytes: give at most \(bytesMax). \(Self.hint)")
    }

    /// For operators that know better.
    static let hint = "If the service has other limits, add --unchecked."
}

/// Runs a call. If the service rejects it, the error names what was typed, not the parameter that
/// it became.
///
/// - Parameter words: what was typed, by name of the parameter.
func naming<T>(_ words: [String: String], _ call: () throws -> T) throws -> T {
    do {
        return try call()
    } catch let error as ClientError {
        guard case .rejected(var reply) = error else { throw error }
        if !reply.failed.isEmpty {
            let failed = "accounts \(reply.failed.map(visible).joined(separator: ", "))"
            reply.message = reply.message.replacingOccurrences(
                of: "accounts in `failed`", with: failed)
        }
        for (parameter, word) in words {
            reply.message = reply.message.replacingOccurrences(of: "`\(parameter)`", with: word)
        }
        throw ClientError.rejected(reply)
    }
}
