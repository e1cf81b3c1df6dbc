import NIOCore
import PresenceCore
import PresenceGateway
import PresenceServer
import PresenceWire

extension API {
    /// The metrics of the service, if it responds, and those of the API.
    func metrics() async throws -> Response {
        var text = ByteBuffer()
        do {
            text.writeBytes(try await gateway.call(MethodCall(.metrics)).bytes)
        } catch InProcessError.rejected {
            // Those of the API are reported all the same.
        }
        text.writeBytes(counters.metricsText(await gateway.counters(), certificates))
        return Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: .buffer(text))
    }
}
