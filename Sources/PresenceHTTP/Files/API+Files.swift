extension FileSet {
    /// The files of the JavaScript SDK: those of `clients/js/src`, and all that a browser needs of
    /// them in one file.
    static let sdk = FileSet(
        EmbeddedFile.all(in: "sdk/"),
        [
            // A module is loaded only with the first field, if its page is of another origin;
            // a page with Cross-Origin-Embedder-Policy asks for the second.
            .accessControlAllowOrigin: "*",
            .crossOriginResourcePolicy: "cross-origin",
            .vary: "Accept-Encoding",
        ])

    /// The files of the console, a page for operators.
    ///
    /// It calls the API with the key that its user types, so its files need no key, and what a page
    /// may do is bounded as tightly as a browser allows: it loads nothing from elsewhere, runs no
    /// script that is not one of its files, and cannot be framed.
    static let console = FileSet(
        EmbeddedFile.all(in: "console/"),
        [
            .contentSecurityPolicy: [
                "default-src 'none'", "script-src 'self'", "style-src 'self'",
                "connect-src 'self'", "img-src 'self' data:", "base-uri 'none'",
                "form-action 'none'", "frame-ancestors 'none'",
            ].joined(separator: "; "),
            .crossOriginOpenerPolicy: "same-origin",
            .crossOriginResourcePolicy: "same-origin",
            .referrerPolicy: "no-referrer",
        ])
}

extension FileSet {
    fileprivate func response(to call: Call) -> Response? {
        response(for: call.path["file"] ?? "", to: call.head.fields)
    }
}

extension API {
    /// The response with a file of the SDK.
    func sdkFile(_ call: Call) throws(HTTPError) -> Response {
        guard let response = FileSet.sdk.response(to: call) else {
            throw .noFile("The SDK has no such file; a page imports /sdk/index.js.")
        }
        return response
    }

    /// The response with a file of the console.
    func consoleFile(_ call: Call) throws(HTTPError) -> Response {
        guard let console else { throw .noConsole }
        guard let response = console.response(to: call) else {
            throw .noFile("The console has no such file; it is at /console/.")
        }
        return response
    }

    /// The response that leads to the console.
    func consoleRedirect() throws(HTTPError) -> Response {
        guard console != nil else { throw .noConsole }
        return Response(status: .permanentRedirect, headers: [.location: "/console/"])
    }
}

extension HTTPError {
    static func noFile(_ detail: String) -> HTTPError {
        HTTPError(.notFound, "not_found", detail)
    }

    fileprivate static var noConsole: HTTPError {
        noFile("The console is off; the setting `console` turns it on.")
    }
}
