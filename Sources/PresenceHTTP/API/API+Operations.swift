import NIOCore
import PresenceCore
import PresenceGateway
import PresenceServer
import PresenceWire

extension API {
    /// Carries out the operation.
    func carryOut(_ call: Call) async throws -> Response {
        switch call.operation {
        case .readFeed, .getSDKFile:
            preconditionFailure("an operation that needs more of the request")
        case .getMetrics:
            return try await metrics()
        case .getLiveness:
            return .json(.buffer(ByteBuffer(staticString: "{\"status\":\"alive\"}")))
        case .getReadiness:
            try await readiness.check(gateway)
            return .json(.buffer(ByteBuffer(staticString: "{\"status\":\"ready\"}")))
        case .getDescription:
            return .json(.buffer(Self.description))
        case .getState:
            // The only element of a list.
            let query = try call.call(.query, path: [.onlyAccount], query: [.typeOfPresence])
            return .json(.result(try await gateway.call(query, .onlyState)))
        default:
            return .json(.result(try await gateway.call(try methodCall(for: call))))
        }
    }

    /// The call of the service for an operation whose response is its result.
    private func methodCall(for call: Call) throws(HTTPError) -> MethodCall {
        let account = PathName.name("account", as: .account)
        switch call.operation {
        case .queryStates:
            return try call.call(.query, path: [])
        case .publishStatus:
            return try call.call(.publish, path: [account, .type])
        case .clearStatus:
            return try call.call(.clear, path: [account, .type])
        case .listSubscriptions:
            return try call.call(
                .subscriptions, path: [account],
                query: [.integer(.type), .publishers, .text(.cursor), .integer(.limit)])
        case .subscribe:
            return try call.call(.subscribe, path: [account])
        case .unsubscribe:
            return try call.call(
                .unsubscribe, path: [account], query: [.integer(.type), .publishers])
        case .listSubscribers:
            return try call.call(
                .subscribers, path: [.name("account", as: .publisher)],
                query: [.typeOfPresence, .text(.cursor), .integer(.limit)])
        case .listContacts:
            return try call.call(
                .contacts, path: [account], query: [.text(.cursor), .integer(.limit)])
        case .relate:
            return try call.call(.relate, path: [account, .name("contact", as: .contact)])
        case .removeContact:
            var removal = try call.call(.relate, path: [account, .name("contact", as: .contact)])
            removal.arguments.append(MethodCall.Argument(.action, .text("remove")))
            return removal
        case .setVisibility:
            return try call.call(.setVisibility, path: [account])
        case .setPassword:
            return try call.call(.setPassword, path: [account])
        case .removePassword:
            return try call.call(.removePassword, path: [account])
        case .listSessions:
            return try call.call(.sessions, path: [account])
        case .kickAccount:
            return try call.call(.kick, path: [account], query: [.text(.reason)])
        case .kickSession:
            return try call.call(
                .kick, path: [account, .name("device", as: .device)], query: [.text(.reason)])
        case .getStats:
            return try call.call(.stats, path: [])
        case .getState, .readFeed, .getMetrics, .getLiveness, .getReadiness, .getDescription,
            .getSDKFile:
            preconditionFailure("an operation with a response of its own")
        }
    }

    private func metrics() async throws -> Response {
        var text = ByteBuffer()
        do {
            text.writeBytes(try await gateway.call(MethodCall(.metrics)).bytes)
        } catch InProcessError.refused {
            // Those of the API are there all the same.
        }
        text.writeBytes(counters.metricsText(await gateway.counters(), certificates))
        return Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: .buffer(text))
    }

    private static let description = ByteBuffer(bytes: EmbeddedFile.description.bytes)
}
