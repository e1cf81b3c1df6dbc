import PresenceWire
import Testing

@testable import PresenceCore

@Suite struct ErrorEncodingTests {
    private func error(_ rejection: Rejection) -> String? {
        body { $0.appendErrorBody(rejection, to: .integer(1), in: Effects()) }
    }

    private static let parameters: [(Rejection, String, String)] = [
        (
            Rejection(.missingField, field: .token),
            "`token` or another credential is required.",
            #""field":"token""#
        ),
        (Rejection(.missingField, field: .expiry), "`expiry` is required.", #""field":"expiry""#),
        (Rejection(.outOfRange, field: .from), "`from` must be now.", #""field":"from""#),
        (
            Rejection(.duplicateField, field: .from),
            "`from` cannot be given together with `cursor`, or twice.", #""field":"from""#
        ),
        (
            Rejection(.wrongType, field: .publishers), "`publishers` must be an array of strings.",
            #""field":"publishers""#
        ),
        (
            Rejection(.outOfRange, field: .type, min: 100, max: 65_535),
            "`type` must be 1 or 100 to 65535.", #""field":"type","min":100,"max":65535"#
        ),
        (
            Rejection(.outOfRange, field: .expiry, min: 60, max: 2_592_000),
            "`expiry` must be 60 to 2592000 seconds.", #""field":"expiry","min":60,"max":2592000"#
        ),
        (
            Rejection(.outOfRange, field: .publishers, min: 1, max: 100),
            "`publishers` must have 1 to 100 names.", #""field":"publishers","min":1,"max":100"#
        ),
        (
            Rejection(.outOfRange, field: .client),
            "`client` must be one of android, ios, harmony, windows, macos, linux, web, server, "
                + "other.",
            #""field":"client""#
        ),
        (
            Rejection(.invalidName, field: .device, limit: 64),
            "`device` must be 1 to 64 bytes, without control characters and without leading "
                + "or trailing spaces.",
            #""field":"device","limit":64"#
        ),
        (
            Rejection(.invalidName, field: .publishers, limit: 128, index: 73),
            "The element at index 73 of `publishers` must be 1 to 128 bytes, without control "
                + "characters and without leading or trailing spaces.",
            #""field":"publishers","index":73,"limit":128"#
        ),
        (
            Rejection(.tooLong, field: .accounts, limit: 128, count: 200, index: 0),
            "The element at index 0 of `accounts` has 200 bytes; at most 128 are allowed.",
            #""field":"accounts","index":0,"limit":128,"count":200"#
        ),
        (
            Rejection(.wrongType, field: .tags, index: 2),
            "The element at index 2 of `tags` must be a string.", #""field":"tags","index":2"#
        ),
        (
            Rejection(.tooMany, field: .publishers, limit: 100),
            "`publishers` has more than 100 names; split the request.",
            #""field":"publishers","limit":100"#
        ),
        (
            Rejection(.tooMany, limit: 42),
            "The response can hold 42 accounts; split the request.", #""limit":42"#
        ),
        (
            Rejection(.tooMany, field: .params, limit: 64, count: 65),
            "`params` has more than 64 members.", #""field":"params","limit":64,"count":65"#
        ),
        (
            Rejection(.reservedValue, field: .value, min: 10_000, max: 2_147_483_647),
            "`value` must be at least 10000; lower values are reserved.",
            #""field":"value","min":10000,"max":2147483647"#
        ),
        (
            Rejection(.tooLong, field: .ext, limit: 4_096, count: 5_000),
            "`ext` has 5000 bytes; at most 4096 are allowed.",
            #""field":"ext","limit":4096,"count":5000"#
        ),
        (
            Rejection(.tooLong, field: .body, limit: 131_072, count: 140_000),
            "`body` and `ext` have 140000 bytes; at most 131072 are allowed.",
            #""field":"body","limit":131072,"count":140000"#
        ),
        (
            Rejection(.outOfRange, field: .ref, min: 1, max: 64),
            "`ref` must be 1 to 64 bytes.", #""field":"ref","min":1,"max":64"#
        ),
        (
            Rejection(.outOfRange, field: .device),
            "`device` is possible only with exactly one account in `accounts`.",
            #""field":"device""#
        ),
        (
            Rejection(.outOfRange, field: .id),
            "`id` must be the `id` of a message that was sent to this session.", #""field":"id""#
        ),
        (
            Rejection(.duplicateField, field: .type), "`type` appears more than once.",
            #""field":"type""#
        ),
        (
            Rejection(.duplicateField, field: .key),
            "`key` appears more than once, or together with another credential.",
            #""field":"key""#
        ),
    ]

    @Test(arguments: parameters)
    func `an invalid parameter`(rejection: Rejection, message: String, data: String) {
        let expected =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":414,"message":"\#(message)","#
            + #""data":{"reason":"\#(rejection.reason.rawValue)",\#(data)}}}"#
        #expect(error(rejection) == expected)
    }

    private static let others: [(Rejection, Int, String, String)] = [
        (Rejection(.notLoggedIn), 401, "Log in first.", ""),
        (Rejection(.invalidToken), 401, "Invalid credentials.", ""),
        (
            Rejection(.invalidToken, field: .key), 401,
            "`key` is not a server key of this service; a JWT is given as `token`.",
            #","field":"key""#
        ),
        (
            Rejection(CredentialError.audience), 401,
            "The token's `aud` does not include this service: it must have what the setting "
                + "jwt-audience says, and there must be none without that setting.",
            #","field":"token""#
        ),
        (
            Rejection(CredentialError.signature), 401, "The token's signature is invalid.",
            #","field":"token""#
        ),
        (
            Rejection(CredentialError.expired), 401,
            "The token has expired; log in with a new one.",
            #","field":"token""#
        ),
        (
            Rejection(CredentialError.keysUnavailable, retryAfterSeconds: 2), 503,
            "The keys that verify tokens cannot be fetched; try again later.", #","retryAfter":2"#
        ),
        (
            Rejection(.forbidden), 403,
            "This session may not call the method: it is for app servers only (log in with a "
                + "`key`), or for accounts only, or the operator has disabled it.", ""
        ),
        (
            Rejection(.forbidden, field: .token), 403,
            "The `token` is for another account than the session.", #","field":"token""#
        ),
        (
            Rejection(.forbidden, field: .account), 403,
            "`account` must be that of the session; only an app server may name another.",
            #","field":"account""#
        ),
        (
            Rejection(.forbidden, field: .aliases), 403,
            "`aliases` is for app servers only; log in with a `key`.", #","field":"aliases""#
        ),
        (
            Rejection(.rateLimited, retryAfterSeconds: 1), 416,
            "Rate limit exceeded; try again in 1 second.", #","retryAfter":1"#
        ),
        (
            Rejection(.subscriptionQuota, limit: 3_000, count: 2_990), 419,
            "The account may have 3000 subscriptions and has 2990.", #","limit":3000,"count":2990"#
        ),
        (
            Rejection(.sessionQuota, limit: 10), 419, "The account may have 10 sessions.",
            #","limit":10"#
        ),
        (
            Rejection(.subscriberQuota), 419, "The publisher has reached its limit of subscribers.",
            ""
        ),
        (
            Rejection(.senderQuota, limit: 1_000, count: 995), 419,
            "The account may have 1000 messages that are not taken and has 995.",
            #","limit":1000,"count":995"#
        ),
        (
            Rejection(.senderQuota, field: .body, limit: 16_777_216, count: 16_777_000), 419,
            "The account may have 16777216 bytes in messages that are not taken and has 16777000.",
            #","field":"body","limit":16777216,"count":16777000"#
        ),
        (Rejection(.internal), 500, "Internal error; nothing was changed.", ""),
        (
            Rejection(.storeUnavailable), 503,
            "The service cannot store changes at the moment; try again later.", ""
        ),
        (
            Rejection(.overloaded, retryAfterSeconds: 5), 503,
            "The service is overloaded; try again in 5 seconds.", #","retryAfter":5"#
        ),
        (Rejection(.shuttingDown), 503, "The service is shutting down; try again later.", ""),
    ]

    @Test(arguments: others)
    func `a request that cannot be carried out`(
        rejection: Rejection, code: Int, message: String, data: String
    ) {
        let expected =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":\#(code),"message":"\#(message)","#
            + #""data":{"reason":"\#(rejection.reason.rawValue)"\#(data)}}}"#
        #expect(error(rejection) == expected)
    }

    /// All of `setDevice`, and what `send` says of labels.
    private static let labels: [(Rejection, Int, String, String)] = [
        (
            Rejection(.nothingSet), 6_001,
            "At least one of `alias`, `tags` and `pushAddress` is required.", ""
        ),
        (
            Rejection(.invalidAlias, field: .alias, character: "〇"), 6_003,
            "`alias` may have only letters a to z and A to Z, digits, `_` and Chinese characters "
                + "(Unified_Ideograph).",
            #","field":"alias","character":"〇""#
        ),
        (
            Rejection(.aliasTooLong, field: .alias, limit: 40, count: 41), 6_004,
            "`alias` has 41 bytes; at most 40 are allowed.",
            #","field":"alias","limit":40,"count":41"#
        ),
        (
            Rejection(.invalidTag, field: .tags, index: 3, character: "\""), 6_005,
            "The tag at index 3 of `tags` may have only letters a to z and A to Z, digits, `_` "
                + "and Chinese characters (Unified_Ideograph).",
            #","field":"tags","index":3,"character":"\"""#
        ),
        (
            Rejection(.invalidTag, field: .tags, index: 0, character: "\0"), 6_005,
            "The tag at index 0 of `tags` may have only letters a to z and A to Z, digits, `_` "
                + "and Chinese characters (Unified_Ideograph).",
            #","field":"tags","index":0,"character":"\u0000""#
        ),
        (
            Rejection(.invalidTag, field: .tags, index: 7), 6_005,
            "The tag at index 7 of `tags` is empty.", #","field":"tags","index":7"#
        ),
        (
            Rejection(.tagTooLong, field: .tags, limit: 40, count: 42, index: 1), 6_006,
            "The tag at index 1 of `tags` has 42 bytes; at most 40 are allowed.",
            #","field":"tags","index":1,"limit":40,"count":42"#
        ),
        (
            Rejection(.tooManyTags, field: .tags, limit: 100, count: 101), 6_007,
            "`tags` has 101 tags; at most 100 are allowed.",
            #","field":"tags","limit":100,"count":101"#
        ),
        (
            Rejection(.labelsTooLong, limit: 1_024, count: 1_025), 6_008,
            "The alias and the tags together have 1025 bytes; at most 1024 are allowed.",
            #","limit":1024,"count":1025"#
        ),
        (
            Rejection(.tooLong, field: .pushAddress, limit: 2_048, count: 2_049), 414,
            "`pushAddress` has 2049 bytes; at most 2048 are allowed.",
            #","field":"pushAddress","limit":2048,"count":2049"#
        ),
        (Rejection(.noRecipients), 1_011, "No device is selected by these aliases or tags.", ""),
        (
            Rejection(.outOfRange, field: .tagsAll, min: 1, max: 20), 414,
            "`tagsAll` must have 1 to 20 tags.", #","field":"tagsAll","min":1,"max":20"#
        ),
    ]

    @Test(arguments: labels)
    func `labels of devices`(rejection: Rejection, code: Int, message: String, data: String) {
        let expected =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":\#(code),"message":"\#(message)","#
            + #""data":{"reason":"\#(rejection.reason.rawValue)"\#(data)}}}"#
        #expect(error(rejection) == expected)
    }

    private static let envelopes: [(EnvelopeError, Int, String, String)] = [
        (EnvelopeError(.invalidJSON), -32_700, "The frame is not a single JSON value.", ""),
        (
            EnvelopeError(.invalidJSON, position: 23), -32_700,
            "The frame is not a single JSON value; the error is at byte 23, counted from 0.",
            #","position":23"#
        ),
        (EnvelopeError(.invalidUTF8), -32_700, "The frame is not UTF-8.", ""),
        (EnvelopeError(.tooDeep), -32_700, "The frame nests deeper than 32 levels.", ""),
        (
            EnvelopeError(.batchNotSupported), -32_600,
            "Batches are not supported; send one request per frame.", ""
        ),
        (
            EnvelopeError(.duplicateField, field: .id), -32_600,
            "`id` appears more than once in the request.",
            #","field":"id""#
        ),
        (
            EnvelopeError(.invalidRequest, field: .id, limit: 128), -32_600,
            "`id` must be a 64-bit integer or a string of at most 128 bytes.",
            #","field":"id","limit":128"#
        ),
        (
            EnvelopeError(.invalidRequest, field: .jsonrpc), -32_600,
            "`jsonrpc` must be the string 2.0.", #","field":"jsonrpc""#
        ),
        (
            EnvelopeError(.invalidRequest), -32_600,
            "The frame is not a JSON-RPC 2.0 request object.", ""
        ),
        (
            EnvelopeError(.invalidRequest, limit: 64), -32_600,
            "The request may have at most 64 members.", #","limit":64"#
        ),
        (
            EnvelopeError(.unknownMethod, field: .method), -32_601, "Unknown method.",
            #","field":"method""#
        ),
    ]

    @Test(arguments: envelopes)
    func `what is no request`(envelope: EnvelopeError, code: Int, message: String, data: String) {
        let text = body {
            $0.appendErrorBody(envelope, to: .unknown)
        }
        let expected =
            #"{"jsonrpc":"2.0","id":null,"error":{"code":\#(code),"message":"\#(message)","#
            + #""data":{"reason":"\#(envelope.reason.rawValue)"\#(data)}}}"#
        #expect(text == expected)
    }

    @Test func `every reason with every field makes a sentence`() {
        for reason in Rejection.Reason.allCases {
            for field in Rejection.Field.allCases {
                let body = error(Rejection(reason, field: field)) ?? ""
                let message = body.split(separator: #""message":""#).last?.split(separator: "\"")
                #expect(message?.first?.hasSuffix(".") == true, "\(body)")
                #expect(body.contains("\"code\":\(reason.code),"))
            }
        }
    }

    @Test(arguments: CredentialError.allCases)
    func `every error of credentials makes a sentence of its own`(cause: CredentialError) {
        let body = error(Rejection(cause)) ?? ""
        let message = body.split(separator: #""message":""#).last?.split(separator: "\"").first
        #expect(message?.hasSuffix(".") == true, "\(body)")
        let others = CredentialError.allCases.filter { $0 != cause }.map { error(Rejection($0)) }
        #expect(!others.contains { $0?.contains(message ?? "") == true })
    }

    @Test(
        arguments: [
            (.protocolViolation, nil, 4_400, "protocol_violation"),
            (.loginTimeout, nil, 4_401, "login_timeout"),
            (.tokenExpired, nil, 4_402, "token_expired"),
            (.idleTimeout, nil, 4_408, "idle_timeout"), (.replaced, nil, 4_409, "replaced"),
            (.kicked(reason: nil), nil, 4_410, "kicked"), (.tooSlow, nil, 4_429, "too_slow"),
            (.shuttingDown, 5, 4_503, "shutting_down"), (.overloaded, 30, 4_504, "overloaded"),
        ] as [(CloseReason, Int?, Int, String)])
    func `the end of a connection`(
        reason: CloseReason, seconds: Int?, code: Int, word: String
    ) {
        let text = body { $0.appendCloseBody(reason, retryAfterSeconds: seconds) } ?? ""
        let start = #"{"jsonrpc":"2.0","method":"close","params":{"code":\#(code),"#
        #expect(text.hasPrefix(start + #""reason":"\#(word)","message":""#))
        #expect(text.hasSuffix(seconds.map { #".","retryAfter":\#($0)}}"# } ?? #"."}}"#))
    }

    @Test func `who is kicked reads why`() {
        let reason = CloseReason.kicked(reason: Array("no \"spam\"".utf8))
        let text = body { $0.appendCloseBody(reason) }
        #expect(
            text == #"{"jsonrpc":"2.0","method":"close","params":{"code":4410,"reason":"kicked","#
                + #""message":"no \"spam\""}}"#)
    }

    @Test func `the end of a login list`() {
        let text = body { $0.appendSyncedBody(count: 12) }
        #expect(text == #"{"jsonrpc":"2.0","method":"synced","params":{"count":12}}"#)
    }

    @Test func `subscriptions that ran out`() {
        var fixture = Fixture()
        fixture.effects.names = ["zed", "bob", "\"x\""].map { fixture.text($0) }
        let text = body {
            let rest = $0.appendExpiredBody(
                EventType(number: 100), .expired, 1..<3, in: fixture.effects, limits: Limits())
            #expect(rest.isEmpty)
        }
        #expect(
            text == #"{"jsonrpc":"2.0","method":"expired","params":{"type":100,"#
                + #""publishers":["bob","\"x\""]}}"#)
        let other = body {
            _ = $0.appendExpiredBody(
                .presence, .unsubscribed, 0..<1, in: fixture.effects, limits: Limits())
        }
        #expect(
            other == #"{"jsonrpc":"2.0","method":"expired","params":{"type":1,"#
                + #""cause":"unsubscribed","publishers":["zed"]}}"#)
        var none: [UInt8] = []
        _ = none.appendExpiredBody(
            .presence, .expired, 1..<1, in: fixture.effects, limits: Limits())
        #expect(none.isEmpty)
    }

    @Test func `a long list of subscriptions that ran out is split`() {
        var fixture = Fixture()
        let names = (0..<20).map { "\"name \($0)\"" }
        fixture.effects.names = (0..<20).map { fixture.text("name \($0)") }
        var limits = Limits()
        let head = #"{"jsonrpc":"2.0","method":"expired","params":{"type":1,"publishers":["#
        for bytesMax in 90...400 {
            limits.serverFrameBytesMax = bytesMax
            let all = bodies(of: 0..<20) {
                $0.appendExpiredBody(.presence, .expired, $1, in: fixture.effects, limits: limits)
            }
            #expect(all.allSatisfy { $0.utf8.count <= bytesMax })
            #expect(all.allSatisfy { $0.hasPrefix(head) && $0.hasSuffix("]}}") })
            let lists = all.map { $0.dropFirst(head.count).dropLast(3) }
            #expect(lists.joined(separator: ",") == names.joined(separator: ","))
            #expect((all.count == 1) == (bytesMax >= head.count + 189 + 3))
        }
    }
}
