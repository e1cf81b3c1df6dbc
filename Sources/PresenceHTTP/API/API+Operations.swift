import HTTPTypes
import HummingbirdCore
import NIOCore
import PresenceGateway

extension API {
    /// Carries out the operation.
    func carryOut(_ call: Call) async throws -> Response {
        let account = PathName.name("account", as: "account")
        switch call.operation {
        case .queryStates:
            return try answer(await gateway.callForStates("query", call.params(path: [])))
        case .getState:
            return try await state(call)
        case .publishStatus:
            return try await ask("publish", call.params(path: [account, .type]))
        case .clearStatus:
            return try await ask("clear", call.params(path: [account, .type]))
        case .listSubscriptions:
            return try await ask(
                "subscriptions",
                call.params(
                    path: [account],
                    query: [.integer("type"), .publishers, .text("cursor"), .integer("limit")]))
        case .subscribe:
            return try answer(
                await gateway.callForStates("subscribe", call.params(path: [account])))
        case .unsubscribe:
            return try await ask(
                "unsubscribe", call.params(path: [account], query: [.integer("type"), .publishers]))
        case .listSubscribers:
            return try await ask(
                "subscribers",
                call.params(
                    path: [.name("account", as: "publisher")],
                    query: [.typeOfPresence, .text("cursor"), .integer("limit")]))
        case .listSessions:
            return try await ask("sessions", call.params(path: [account]))
        case .kickAccount:
            return try await ask("kick", call.params(path: [account], query: [.text("reason")]))
        case .kickSession:
            let device = PathName.name("device", as: "device")
            return try await ask(
                "kick", call.params(path: [account, device], query: [.text("reason")]))
        case .getStats:
            return try await ask("stats", ByteBuffer(staticString: "{}"))
        case .readFeed:
            preconditionFailure("a stream has no single response")
        case .getMetrics:
            return try await metrics()
        case .getLiveness:
            return .json(ByteBuffer(staticString: "{\"status\":\"alive\"}"))
        case .getReadiness:
            try await readiness.check(gateway)
            return .json(ByteBuffer(staticString: "{\"status\":\"ready\"}"))
        case .getDescription:
            return .json(ByteBuffer(bytes: PackageResources.openapi_json))
        }
    }

    private func ask(_ method: String, _ params: ByteBuffer) async throws -> Response {
        try answer(await gateway.call(method, params))
    }

    private func answer(_ answer: ServiceResponse) throws(HTTPError) -> Response {
        .json(try Self.result(of: answer))
    }

    static func result(of answer: ServiceResponse) throws(HTTPError) -> ByteBuffer {
        switch answer {
        case .result(let result): return result
        case .error(let error): throw HTTPError(serviceError: error)
        }
    }

    /// The state of one account: the only element of a list.
    private func state(_ call: Call) async throws -> Response {
        let params = try call.params(path: [.onlyAccount], query: [.typeOfPresence])
        let result = try Self.result(of: await gateway.call("query", params))
        let (begin, end) = ("{\"states\":[", "]}")
        let length = result.readableBytes - begin.utf8.count - end.utf8.count
        guard length > 0,
            result.getString(at: result.readerIndex, length: begin.utf8.count) == begin,
            let state = result.getSlice(
                at: result.readerIndex + begin.utf8.count, length: length)
        else { throw HTTPError.notUnderstood }
        return .json(state)
    }

    private func metrics() async throws -> Response {
        var text = ByteBuffer()
        if case .result(let result) = try await gateway.call("metrics"),
            let own = (try? JSONObject(result))?["text"].flatMap(JSONText.string)
        {
            text.writeString(own)
        }
        text.writeBytes(counters.metricsText(gateway.counters))
        return Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: text))
    }
}

extension Response {
    /// A successful response.
    static func json(_ body: ByteBuffer) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: body))
    }
}
