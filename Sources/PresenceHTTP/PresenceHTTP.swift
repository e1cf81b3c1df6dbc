// The HTTP API: a translation. Every request becomes one native request and every answer one
// answer, so that there is one place where rules are kept, and one where they are tested.
//
// A day of a request: `ConnectionGuard` watches its clock; `API` finds its operation, asks who
// it is and has it carried out (`API+Operations`); names from the path and the query and members
// of the body become `params`, verbatim where they are JSON already; `Gateway` borrows a
// connection and asks; `result` is the body of the answer as it came, `error` a problem
// (`Problem`). No text is taken apart that need not be, and nothing is judged twice.
//
// All of it runs on one thread of its own. What it can take from the service is bounded: by
// connections here and in the gateway, by the bytes of a body, and by time.
