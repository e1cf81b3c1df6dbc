// The HTTP API: a translation. Every HTTP request becomes one native request, and every native
// response one HTTP response, so that all rules are implemented and tested in one place.
//
// Life of a request: `RequestReader` reads it from the bytes of its connection, strictly. `API`
// finds the operation and checks the key (`plan`), and carries out the operation when the body is
// complete (`respond`, `Operation`). Names from the path and the query and members of the body
// become the parameters of a `MethodCall`, which `Gateway` passes to the service. The result
// becomes the body of the response, unchanged; an error becomes an `HTTPError`. Nothing is parsed
// or checked twice. `HTTPConnection` does one request after the other, and keeps its time limits.
//
// All of it runs on one thread of its own. What it can use of the service is limited: by the number
// of connections here and of calls in the gateway, by the size of bodies, and by time.
