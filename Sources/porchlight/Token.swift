import ArgumentParser
import Foundation
import PresenceTokens

struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a token for an account, for trying out.",
        discussion: """
            Prints a JWT that `serve --auth jwt` takes whose `--jwt-key` is the public half of
            the key, or the same secret. In production, make tokens where your users sign in.
            """)

    @Argument(help: "Whose token it is.")
    var account: String

    @Option(
        help: ArgumentHelp(
            "What it is signed with: a private key in PEM, a JWK, or a secret.", valueName: "file"))
    var key: String

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long it holds: 90s, 15m, 1h, 7d.", valueName: "time"))
    var life: String

    @Option(help: ArgumentHelp("The name of the key, for the header.", valueName: "name"))
    var kid: String?

    @Option(
        help: ArgumentHelp(
            "HS256, RS256, ES256 or EdDSA, where it must be that; a key is for one of them.",
            valueName: "name"))
    var alg: String?

    @Option(name: .customLong("aud"), help: ArgumentHelp("For whom it is.", valueName: "text"))
    var audience: String?

    @Option(name: .customLong("iss"), help: ArgumentHelp("By whom it is.", valueName: "text"))
    var issuer: String?

    /// Those of a service with the longest names that one can be set to take.
    private static var rules: TokenRules {
        var rules = TokenRules()
        if case .integer(let range, _)? = SettingTable.named("account-bytes-max")?.kind {
            rules.accountBytesMax = range.upperBound
        }
        return rules
    }

    func validate() throws {
        guard seconds(life) != nil else {
            throw ValidationError("--for \(life) is no time: give 90s, 15m, 1h or 7d.")
        }
        guard Self.rules.isAccount(account) else {
            throw ValidationError(
                "ACCOUNT “\(cut(account))” is no name: give 1 to "
                    + "\(Self.rules.accountBytesMax) bytes without control characters and "
                    + "without a space at either end.")
        }
        if let alg, TokenAlgorithm(rawValue: alg) == nil {
            throw ValidationError("--alg \(alg) is none of HS256, RS256, ES256 and EdDSA.")
        }
    }

    func run() throws {
        guard let content = FileManager.default.contents(atPath: key) else {
            throw Failure("The file \(key) given with --key cannot be read.")
        }
        let now = Int64(Date().timeIntervalSince1970)
        var claims = TokenMaker.Claims(
            account: account, issued: now, expires: now + (seconds(life) ?? 0))
        claims.aud = audience
        claims.iss = issuer
        let made = waitFor { () async -> Result<TokenMaker, TokenKeyFault> in
            do throws(TokenKeyFault) {
                return .success(try await TokenMaker(file: [UInt8](content)))
            } catch {
                return .failure(error)
            }
        }
        do {
            let maker = try made.get()
            guard alg == nil || alg == maker.algorithm.rawValue else {
                throw Failure(
                    "The key in \(key) is for \(maker.algorithm.rawValue), not for \(alg ?? "").")
            }
            announce(try maker.token(claims, kid: kid))
        } catch let fault as TokenKeyFault {
            throw Failure("The file \(key) given with --key \(fault)")
        }
    }

    /// `15m` in seconds; nil where it is no time.
    private func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (1...1_000_000).contains(count)
        else { return nil }
        return count * unit
    }
}
