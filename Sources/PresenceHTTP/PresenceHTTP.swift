// The HTTP API: a translation. Every request becomes one native request and every answer one
// answer, so that there is one place where rules are kept, and one where they are tested.
