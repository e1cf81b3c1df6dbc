// The console is a page for operators. It calls the API with the key that its user types, so its
// files need no key, and what a page may do is bounded as tightly as a browser allows: it loads
// nothing from elsewhere, runs no script that is not one of its files, and cannot be framed.

extension API {
    /// The response with a file of the console, or that the client has it already.
    func consoleFile(_ call: Call, _ head: RequestHead) throws(HTTPError) -> Response {
        guard let console else { throw .noConsole }
        guard let (file, type) = console[call.path["file"] ?? ""] else {
            throw .noConsoleFile
        }
        let response = Response(
            status: .ok,
            headers: [
                .contentType: type,
                .eTag: file.tag,
                // The files import each other. Always asking keeps them of one version.
                .cacheControl: "no-cache",
                .contentSecurityPolicy: Self.consolePolicy,
                .crossOriginOpenerPolicy: "same-origin",
                .crossOriginResourcePolicy: "same-origin",
                .referrerPolicy: "no-referrer",
            ],
            body: .buffer(file.body))
        guard file.isNamed(by: head.fields.text(.ifNoneMatch)) else { return response }
        return Response(status: .notModified, headers: response.headers)
    }

    /// The response that leads to the page.
    func consoleRedirect() throws(HTTPError) -> Response {
        guard console != nil else { throw .noConsole }
        return Response(status: .permanentRedirect, headers: [.location: "/console/"])
    }

    private static let consolePolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
        "img-src 'self' data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")
}

extension HTTPError {
    fileprivate static var noConsole: HTTPError {
        HTTPError(.notFound, "not_found", "The console is off; the setting `console` turns it on.")
    }

    fileprivate static var noConsoleFile: HTTPError {
        HTTPError(.notFound, "not_found", "The console has no such file; it is at /console/.")
    }
}
