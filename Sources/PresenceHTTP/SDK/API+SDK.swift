extension API {
    /// The response with a file of the SDK, or that the client has it already.
    func sdkFile(_ call: Call, _ head: RequestHead) throws(HTTPError) -> Response {
        guard
            let file = sdk.file(
                call.path["file"] ?? "", accepting: head.fields.text(.acceptEncoding))
        else { throw .noSDKFile }
        var response = Response(
            status: .ok,
            headers: [
                .contentType: "text/javascript; charset=utf-8",
                .eTag: file.tag,
                // The files import each other. Always asking keeps them of one version.
                .cacheControl: "no-cache",
                // A module is loaded only with the first field, if its page is of another origin;
                // a page with Cross-Origin-Embedder-Policy asks for the second.
                .accessControlAllowOrigin: "*",
                .crossOriginResourcePolicy: "cross-origin",
                .vary: "Accept-Encoding",
            ],
            body: .buffer(file.body))
        if file.isCompressed { response.headers[.contentEncoding] = "gzip" }
        guard file.isNamed(by: head.fields.text(.ifNoneMatch)) else { return response }
        return Response(status: .notModified, headers: response.headers)
    }
}

extension HTTPError {
    fileprivate static var noSDKFile: HTTPError {
        HTTPError(.notFound, "not_found", "The SDK has no such file; a page imports /sdk/index.js.")
    }
}
