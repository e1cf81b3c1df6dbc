import NIOCore
import PresenceCore
import PresenceWire

/// An operation of the API: a line of the table below.
struct Operation: Sendable {
    /// The name, which `docs/openapi.json` has, too.
    let name: String
    let method: HTTPMethod
    /// The path, with names in braces for the variable segments.
    let path: String
    let segments: [String]
    /// Whether it needs no key.
    let isPublic: Bool
    /// The members that the body may have; nil if there is no body.
    let bodyMembers: [Rejection.Field]?
    let action: Action

    /// What it does.
    enum Action: Sendable {
        /// Calls the service; the response is the result.
        case call(NativeCall)
        /// Something of its own, for app servers that may use the method.
        case custom(Responder, as: MethodName?)
    }

    /// Whether it changes nothing and reads no secrets, so that a key that may only read is enough.
    var isReading: Bool {
        switch action {
        case .call(let native): native.method.rules.effect == .reads
        case .custom(_, as: let native): native.map { $0.rules.effect == .reads } ?? true
        }
    }

    /// Whether it says how the service is, without a key.
    var isOfHealth: Bool { name == "getLiveness" || name == "getReadiness" }

    typealias Responder = @Sendable (API, Call) async throws -> Response
}

/// A method of the native protocol, and where its parameters are, besides the body.
struct NativeCall: Sendable {
    let method: MethodName
    /// What the account in the path is. Other names in it are parameters of the same name.
    let account: AccountUse
    let query: [QueryName]
    /// Parameters that are always the same.
    let fixed: [MethodCall.Argument]
    let form: ResultForm

    enum AccountUse: Sendable {
        case account, publisher
        /// The only element of a list.
        case onlyElement
    }
}

extension Operation {
    /// One that calls the service.
    private init(
        _ name: String, _ method: HTTPMethod, _ path: String, _ native: MethodName,
        account: NativeCall.AccountUse = .account, query: [QueryName] = [],
        body: [Rejection.Field]? = nil, fixed: [MethodCall.Argument] = [],
        form: ResultForm = .whole
    ) {
        self.name = name
        self.method = method
        self.path = path
        segments = RouteTable.segments(of: path).map(String.init)
        isPublic = false
        bodyMembers = body
        action = .call(
            NativeCall(
                method: native, account: account, query: query, fixed: fixed, form: form))
    }

    /// One of its own.
    private init(
        _ name: String, _ path: String, isPublic: Bool = true, as native: MethodName? = nil,
        _ respond: @escaping Responder
    ) {
        self.name = name
        method = .get
        self.path = path
        segments = RouteTable.segments(of: path).map(String.init)
        self.isPublic = isPublic
        bodyMembers = nil
        action = .custom(respond, as: native)
    }
}

extension Operation: CaseIterable {
    /// All operations.
    static let allCases = ofAccounts + ofService

    private static let account = "/v1/accounts/{account}"

    private static let ofAccounts = [
        Operation("queryStates", .post, "/v1/states", .query, body: [.type, .accounts]),
        Operation(
            "getState", .get, account + "/state", .query, account: .onlyElement,
            query: [.typeOfPresence], form: .onlyState),
        Operation(
            "publishStatus", .put, account + "/statuses/{type}", .publish,
            body: [.value, .expiry, .ext, .onlineOnly, .sync]),
        Operation("clearStatus", .delete, account + "/statuses/{type}", .clear),
        Operation(
            "listSubscriptions", .get, account + "/subscriptions", .subscriptions,
            query: [.integer(.type), .publishers, .text(.cursor), .integer(.limit)]),
        Operation(
            "subscribe", .post, account + "/subscriptions", .subscribe,
            body: [.type, .expiry, .publishers, .sync]),
        Operation(
            "unsubscribe", .delete, account + "/subscriptions", .unsubscribe,
            query: [.integer(.type), .publishers]),
        Operation(
            "listSubscribers", .get, account + "/subscribers", .subscribers,
            account: .publisher,
            query: [.typeOfPresence, .text(.cursor), .integer(.limit)]),
        Operation(
            "listContacts", .get, account + "/contacts", .contacts,
            query: [.text(.cursor), .integer(.limit)]),
        Operation(
            "relate", .post, account + "/contacts/{contact}", .relate,
            body: [.action, .text, .name, .groups]),
        Operation(
            "removeContact", .delete, account + "/contacts/{contact}", .relate,
            fixed: [MethodCall.Argument(.action, .text("remove"))]),
        Operation(
            "setVisibility", .put, account + "/visibility", .setVisibility, body: [.visibility]),
        Operation("setPassword", .put, account + "/password", .setPassword, body: [.password]),
        Operation("removePassword", .delete, account + "/password", .removePassword),
        Operation(
            "sendMessage", .post, "/v1/messages", .send,
            body: [
                .account, .accounts, .device, .aliases, .tags, .tagsAll, .tagsNot, .body, .ext,
                .ref, .receipt, .expiry,
            ]),
        Operation(
            "discardMessages", .delete, account + "/messages", .discard, query: [.text(.from)]),
        Operation(
            "discardMessagesOfSender", .delete, "/v1/messages", .discard, query: [.text(.from)]),
        Operation("listDevices", .get, account + "/devices", .devices),
        Operation(
            "setDevice", .put, account + "/devices/{device}", .setDevice,
            body: [.alias, .tags, .pushAddress, .ifPushAddress]),
        Operation(
            "clearDevice", .delete, account + "/devices/{device}", .setDevice,
            fixed: [
                MethodCall.Argument(.alias, .text("")), MethodCall.Argument(.tags, .texts([])),
                MethodCall.Argument(.pushAddress, .text("")),
            ]),
        Operation("listSessions", .get, account + "/sessions", .sessions),
        Operation("kickAccount", .delete, account + "/sessions", .kick, query: [.text(.reason)]),
        Operation(
            "kickSession", .delete, account + "/sessions/{device}", .kick,
            query: [.text(.reason)]),
    ]

    private static let description = ByteBuffer(
        bytes: EmbeddedFile.all(in: "openapi.json").flatMap(\.bytes))

    private static let ofService = [
        Operation("getService", "/v1/service", isPublic: false) { $0.service($1.key) },
        Operation("getStats", .get, "/v1/stats", .stats),
        Operation("getTop", .get, "/v1/top", .top, query: [.integer(.limit)]),
        Operation(
            "explain", .get, "/v1/why", .why,
            query: [.text(.subscriber), .text(.publisher), .typeOfPresence]),
        Operation("readFeed", "/v1/feed", isPublic: false, as: .feed) {
            try await $0.feed($1)
        },
        Operation("readUndelivered", "/v1/undelivered", isPublic: false, as: .undelivered) {
            try await $0.undelivered($1)
        },
        Operation("getMetrics", "/metrics", isPublic: false, as: .metrics) { api, _ in
            try await api.metrics()
        },
        Operation("getLiveness", "/livez") { api, _ in
            guard api.isResponsive() else { throw HTTPError.notResponding }
            return .json(.buffer(ByteBuffer(staticString: "{\"status\":\"alive\"}")))
        },
        Operation("getReadiness", "/readyz") { api, _ in
            try await api.readiness.check(api.gateway)
            return .json(.buffer(ByteBuffer(staticString: "{\"status\":\"ready\"}")))
        },
        Operation("getDescription", "/openapi.json") { _, _ in .json(.buffer(description)) },
        Operation("getSDKFile", "/sdk/{file}") { try $0.sdkFile($1) },
        Operation("getConsoleFile", "/console/{file}") { try $0.consoleFile($1) },
        Operation("redirectToConsole", "/console") { api, _ in try api.consoleRedirect() },
        Operation("redirectFromRoot", "/") { api, _ in try api.consoleRedirect() },
    ]
}
