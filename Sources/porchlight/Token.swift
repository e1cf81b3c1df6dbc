import ArgumentParser
import CommandSupport
import Foundation
import PresenceTokens

struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a token for an account, for testing.",
        usage: "porchlight token <account> --key <file> --for <time> [<options>]",
        discussion: """
            Prints a JWT for a service that runs with `--auth jwt` and has the public half of \
            the key, or the same secret, as `--jwt-key`. In production, issue tokens where your \
            users sign in.
            """)

    @Argument(help: "The account that the token is for.")
    var account: String

    @Option(
        help: ArgumentHelp(
            "Sign with the key in this file: a private key in PEM, a JWK, or a secret.",
            valueName: "file"))
    var key: String

    // A time may begin with a dash, by mistake: then it is not an option.
    @Option(
        name: .customLong("for"), parsing: .unconditional,
        help: ArgumentHelp("The lifetime: 90s, 15m, 1h, 7d.", valueName: "time"))
    var life: String

    @Option(help: ArgumentHelp("The key's ID, for the header.", valueName: "name"))
    var kid: String?

    @Option(
        help: ArgumentHelp(
            "Require this algorithm: HS256, RS256, ES256 or EdDSA. A key is for one of them.",
            valueName: "name"))
    var alg: String?

    @Option(name: .customLong("aud"), help: ArgumentHelp("The audience.", valueName: "text"))
    var audience: String?

    @Option(name: .customLong("iss"), help: ArgumentHelp("The issuer.", valueName: "text"))
    var issuer: String?

    /// Those of a service that is set to take the longest names.
    static var rules: TokenRules {
        var rules = TokenRules()
        if case .integer(let range, _)? = SettingTable.named("account-bytes-max")?.kind {
            rules.accountBytesMax = range.upperBound
        }
        return rules
    }

    func validate() throws {
        guard seconds(life) != nil else {
            throw ValidationError(
                "--for \(cut(life)) is not a time: give one such as 90s, 15m, 1h or 7d.")
        }
        try checkAccountName(account, as: "ACCOUNT")
        if let alg, TokenAlgorithm(rawValue: alg) == nil {
            throw ValidationError(
                "--alg \(cut(alg)) is not an algorithm: give HS256, RS256, ES256 or EdDSA.")
        }
    }

    func run() throws {
        let content: [UInt8]
        do throws(FileError) {
            content = try readSecretFile(key)
        } catch {
            throw CommandError("The file \(key) given with --key cannot be read: \(error.words).")
        }
        let now = Int64(Date().timeIntervalSince1970)
        var claims = TokenIssuer.Claims(
            account: account, issued: now, expires: now + (seconds(life) ?? 0))
        claims.aud = audience
        claims.iss = issuer
        let made = waitFor { () async -> Result<TokenIssuer, TokenKeyError> in
            do throws(TokenKeyError) {
                return .success(try await TokenIssuer(file: content))
            } catch {
                return .failure(error)
            }
        }
        do {
            let maker = try made.get()
            guard alg == nil || alg == maker.algorithm.rawValue else {
                throw CommandError(
                    "The key in \(key) is for \(maker.algorithm.rawValue), not for \(alg ?? "").")
            }
            try announce(maker.token(claims, kid: kid))
        } catch let error as TokenKeyError {
            throw CommandError("The file \(key) given with --key \(error)")
        }
    }

    /// `15m` in seconds; nil if it is not a time.
    private func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (1...1_000_000).contains(count)
        else { return nil }
        return count * unit
    }
}
