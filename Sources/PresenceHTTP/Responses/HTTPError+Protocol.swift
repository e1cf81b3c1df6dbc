// Requests that are no requests, or that no server can carry out (RFC 9110, 15.5 and 15.6).

extension HTTPError {
    /// What is sent is no HTTP. Nothing after it can be read.
    static func malformed(_ detail: String) -> HTTPError {
        HTTPError(.badRequest, "invalid_request", detail)
    }

    static var noRequest: HTTPError { malformed("The request must begin with its method.") }

    static var requestLine: HTTPError {
        malformed("The request line must be `METHOD TARGET HTTP/1.1`.")
    }

    /// Of either version.
    static var proxyHeader: HTTPError {
        malformed(
            "This listener does not expect a PROXY header: turn off proxy-protocol for it in your "
                + "proxies.")
    }

    static var hosts: HTTPError { malformed("The request must have one `Host`.") }

    static var invalidHost: HTTPError {
        malformed("`Host` must be a name or an address, and a port if it is not the default.")
    }

    static var invalidTarget: HTTPError {
        malformed("The target of the request must be a path, such as `/v1/stats`.")
    }

    static var severalLengths: HTTPError { malformed("`Content-Length` must be one number.") }

    static var severalFramings: HTTPError {
        malformed(
            "The request must have either `Content-Length` or, in HTTP/1.1, `Transfer-Encoding`.")
    }

    static var chunkLine: HTTPError {
        malformed("A chunk must begin with its size in hexadecimal digits, and CR LF.")
    }

    static var chunkEnd: HTTPError { malformed("A chunk must end with CR LF.") }

    static var onlyChunked: HTTPError {
        HTTPError(
            .notImplemented, "not_implemented", "`Transfer-Encoding` must be `chunked`, once.")
    }

    static var unknownMethod: HTTPError {
        HTTPError(.notImplemented, "not_implemented", "This server does not have this method.")
    }

    static var noProxy: HTTPError {
        HTTPError(.notImplemented, "not_implemented", "This server is no proxy.")
    }

    static var unsupportedVersion: HTTPError {
        HTTPError(.versionNotSupported, "unsupported_version", "Use HTTP/1.1.")
    }

    static var unknownExpectation: HTTPError {
        HTTPError(
            .expectationFailed, "expectation_failed", "`Expect` may only be `100-continue`.")
    }

    static func targetTooLong(bytesMax: Int) -> HTTPError {
        HTTPError(
            .targetTooLong, "target_too_long",
            "The first line of the request may have at most \(bytesMax) bytes."
        ).with("limit", bytesMax)
    }

    static func fieldsTooLarge(bytesMax: Int) -> HTTPError {
        HTTPError(
            .headerFieldsTooLarge, "fields_too_large",
            "The fields of the request may have at most \(bytesMax) bytes."
        ).with("limit", bytesMax)
    }

    static func tooManyParameters(max: Int) -> HTTPError {
        HTTPError(
            .badRequest, "invalid_params", "The query may have at most \(max) parameters."
        ).with("limit", max)
    }

    static func tooManyFields(max: Int) -> HTTPError {
        HTTPError(
            .headerFieldsTooLarge, "fields_too_large",
            "The request may have at most \(max) fields."
        ).with("limit", max)
    }
}
