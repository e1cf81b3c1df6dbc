// The HTTP API: a translation. Every HTTP request becomes one native request, and every native
// response one HTTP response, so that all rules are implemented and tested in one place.
//
// Life of a request: `ConnectionGuard` watches its time limits. `API` finds the operation, checks
// the key and carries out the operation (`API+Operations`). Names from the path and the query and
// members of the body become `params`, verbatim if they are JSON already. `Gateway` borrows a
// connection and sends the request. `result` becomes the body of the response, unchanged; `error`
// becomes an `HTTPError`. Nothing is parsed or checked without need, and nothing is checked
// twice.
//
// All of it runs on one thread of its own. What it can use of the service is limited: by the number
// of connections here and in the gateway, by the size of bodies, and by time.
