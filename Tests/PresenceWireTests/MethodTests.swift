import PresenceWire
import Testing

@testable import PresenceCore

@Suite struct MethodTests {
    @Test(
        arguments: [
            ("logout", .command(.logout)), ("ping", .command(.ping)),
            ("stats", .question(.stats)), ("metrics", .question(.metrics)),
        ] as [(String, Method)])
    func `methods without parameters`(name: String, method: Method) {
        #expect(Decoded(#"{"jsonrpc":"2.0","id":1,"method":"\#(name)"}"#).method == method)
        #expect(Decoded.params(name, "{}").method == method)
        #expect(Decoded.params(name, #"{"token":5}"#).method == method)
    }

    @Test func `a login with all it may say`() {
        let decoded = Decoded.params(
            "login",
            #"{"token":"x.y","client":"harmony","device":"d 1","pushReachable":true,"sync":"none"}"#
        )
        guard case .login(let login) = decoded.method, case .token(let token) = login.credential
        else {
            Issue.record("\(decoded.result)")
            return
        }
        #expect(decoded.string(token) == "x.y")
        #expect(decoded.string(login.device) == "d 1")
        #expect(login.client == .harmony)
        #expect(login.reach == .push)
        #expect(login.sync == .none)
    }

    @Test func `a refresh needs its token`() {
        let decoded = Decoded.params("refresh", #"{"token":"x.y.z"}"#)
        guard case .refresh(let refresh) = decoded.method else {
            Issue.record("\(decoded.result)")
            return
        }
        #expect(decoded.string(refresh.token) == "x.y.z")
        for params in ["{}", #"{"token":5}"#, #"{"token":null}"#] {
            #expect(Decoded.params("refresh", params).method == nil)
        }
    }

    @Test func `a login with the least`() {
        let decoded = Decoded.params("login", #"{"account":"al\u0069ce","device":"d"}"#)
        guard case .login(let login) = decoded.method, case .account(let name) = login.credential
        else {
            Issue.record("\(decoded.result)")
            return
        }
        #expect(decoded.string(name) == "alice")
        #expect(login.client == .other)
        #expect(login.reach == .connection)
        #expect(login.sync == .online)
    }

    @Test func `a login of an app server`() {
        for (params, hasKey) in [(#"{"key":"k"}"#, true), (#"{"client":"server"}"#, false)] {
            let decoded = Decoded.params("login", params)
            guard case .login(let login) = decoded.method else {
                Issue.record("\(decoded.result)")
                return
            }
            #expect(login.device == nil)
            if case .key = login.credential {
                #expect(hasKey)
            } else {
                #expect(login.credential == .appServer)
                #expect(!hasKey)
            }
        }
    }

    @Test func `every word for a client and a login list`() {
        for kind in ClientKind.allCases where kind != .xmpp {
            let decoded = Decoded.params(
                "login", #"{"account":"a","device":"d","client":"\#(kind.word)"}"#)
            guard case .login(let login) = decoded.method else {
                Issue.record("\(kind.word)")
                return
            }
            #expect(login.client == kind)
        }
        let pretended = Decoded.params("login", #"{"account":"a","device":"d","client":"xmpp"}"#)
        #expect(pretended.method == nil)
        for (word, list) in [("online", LoginList.online), ("all", .all), ("none", .none)] {
            let decoded = Decoded.params(
                "login", #"{"account":"a","device":"d","sync":"\#(word)"}"#)
            guard case .login(let login) = decoded.method else {
                Issue.record("\(word)")
                return
            }
            #expect(login.sync == list)
        }
    }

    @Test func `a subscription`() {
        let decoded = Decoded.params(
            "subscribe",
            #"{"account":"z","type":100,"expiry":60,"publishers":["b","a","\u0062"],"sync":true}"#)
        guard case .command(.subscribe(let account, let subscribe)) = decoded.method else {
            Issue.record("\(decoded.result)")
            return
        }
        #expect(decoded.string(account) == "z")
        #expect(subscribe.type == EventType(number: 100))
        #expect(subscribe.expirySeconds == 60)
        #expect(decoded.names == ["b", "a"])
        #expect(subscribe.publishers.start == 0 && subscribe.publishers.count == 2)
        #expect(subscribe.answer == .withStates)
    }

    @Test func `the end of subscriptions`() {
        let all = Decoded.params("unsubscribe", #"{"type":65535}"#)
        guard case .command(.unsubscribe(let account, let unsubscribe)) = all.method else {
            Issue.record("\(all.result)")
            return
        }
        #expect(unsubscribe.publishers == nil)
        #expect(account == nil)
        #expect(unsubscribe.type == EventType(number: 65_535))
        let some = Decoded.params("unsubscribe", #"{"type":1,"publishers":["é"]}"#)
        guard case .command(.unsubscribe(_, let unsubscribe)) = some.method else {
            Issue.record("\(some.result)")
            return
        }
        #expect(unsubscribe.publishers?.count == 1)
        #expect(some.names == ["é"])
    }

    @Test func `a page of subscriptions`() {
        let first = Decoded.params("subscriptions", "{}")
        guard case .command(.subscriptions(_, let page)) = first.method else {
            Issue.record("\(first.result)")
            return
        }
        #expect(page.type == nil && page.publishers == nil && page.cursor == nil)
        #expect(page.entriesMax == 100)
        let next = Decoded.params(
            "subscriptions",
            #"{"type":1,"publishers":["a"],"cursor":"FZZZZZZZZZZZZ","limit":1000}"#)
        guard case .command(.subscriptions(_, let page)) = next.method else {
            Issue.record("\(next.result)")
            return
        }
        #expect(page.type == .presence && page.publishers?.count == 1)
        #expect(page.cursor == .max)
        #expect(page.entriesMax == 1_000)
    }

    @Test func `a status with all it may say`() {
        let decoded = Decoded.params(
            "publish",
            #"{"type":1,"value":2147483647,"expiry":60,"ext":"\u0000\n","onlineOnly":false,"#
                + #""sync":false}"#
        )
        guard case .command(.publish(let account, let publish)) = decoded.method else {
            Issue.record("\(decoded.result)")
            return
        }
        #expect(publish.value == .max)
        #expect(publish.expirySeconds == 60)
        #expect(decoded.string(publish.ext) == "\0\n")
        #expect(publish.audience == .everybody)
        #expect(publish.ownSessions == .excluded)
        #expect(account == nil)
    }

    @Test func `a status with the least`() {
        let decoded = Decoded.params("publish", #"{"type":65535,"value":10000}"#)
        guard case .command(.publish(_, let publish)) = decoded.method else {
            Issue.record("\(decoded.result)")
            return
        }
        #expect(publish.expirySeconds == 604_800)
        #expect(publish.ext == nil)
        #expect(publish.audience == .onlineOnly)
        #expect(publish.ownSessions == .included)
    }

    @Test func `questions about the service`() {
        let why = Decoded.params("why", #"{"subscriber":"a","publisher":"b","type":100}"#)
        guard case .question(.why(let request)) = why.method else {
            Issue.record("\(why.result)")
            return
        }
        #expect(why.string(request.subscriber) == "a" && why.string(request.publisher) == "b")
        #expect(request.type == EventType(number: 100))
        #expect(Decoded.params("top", "{}").method == .question(.top(TopRequest(entriesMax: 10))))
        #expect(
            Decoded.params("top", #"{"limit":100}"#).method
                == .question(.top(TopRequest(entriesMax: 100))))
        for (method, params) in [
            ("why", #"{"publisher":"b","type":1}"#), ("why", #"{"subscriber":"a","type":1}"#),
            ("why", #"{"subscriber":"a","publisher":"b"}"#), ("top", #"{"limit":0}"#),
            ("top", #"{"limit":101}"#),
        ] { #expect(Decoded.params(method, params).method == nil, "\(method) \(params)") }
    }

    @Test func `what app servers ask`() {
        let query = Decoded.params("query", #"{"type":1,"accounts":["x","y","x"]}"#)
        #expect(query.names == ["x", "y"])
        let clear = Decoded.params("clear", #"{"type":1,"account":"a"}"#)
        guard case .command(.clear(let account, _)) = clear.method else {
            Issue.record("\(clear.result)")
            return
        }
        #expect(clear.string(account) == "a")
        let kick = Decoded.params("kick", #"{"account":"a","device":"d","reason":"go"}"#)
        guard case .command(.kick(let request)) = kick.method else {
            Issue.record("\(kick.result)")
            return
        }
        #expect(kick.string(request.device) == "d" && kick.string(request.reason) == "go")
        let watchers = Decoded.params(
            "subscribers", #"{"type":1,"publisher":"p","limit":1,"cursor":"0000000000000"}"#)
        guard case .command(.subscribers(let request)) = watchers.method else {
            Issue.record("\(watchers.result)")
            return
        }
        #expect(request.cursor == 0 && request.entriesMax == 1)
        #expect(Decoded.params("sessions", #"{"account":"a"}"#).method != nil)
    }
}
