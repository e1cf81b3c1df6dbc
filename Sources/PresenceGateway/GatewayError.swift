import PresenceServer
public import PresenceWire

/// Why a call has no result.
public enum GatewayError: Error, Hashable, Sendable {
    /// The service does not accept clients yet. Nothing was done.
    case starting
    /// Too many calls are in progress. Nothing was done.
    case overloaded
    /// The body is no object of parameters. Nothing was done.
    case invalidBody(BodyFault)
    /// The call is larger than the service accepts. Nothing was done.
    case requestTooLarge(bytesMax: Int)
    /// The service has refused it.
    case refused(ErrorContent)
    /// There was no response in time. The call may or may not have been carried out.
    case timedOut
    /// The service has shut down.
    case ended
}

/// The error for a call, or a reader of the feed, that has failed.
func gatewayError(_ error: InProcessError) -> any Error {
    switch error {
    case .overloaded: GatewayError.overloaded
    case .timedOut: GatewayError.timedOut
    case .cancelled: CancellationError()
    case .ended: GatewayError.ended
    case .invalid(.body(let fault)): GatewayError.invalidBody(fault)
    case .invalid(.tooLong(let bytesMax)): GatewayError.requestTooLarge(bytesMax: bytesMax)
    case .invalid(.refused): preconditionFailure("a parameter that the service refuses itself")
    }
}
