// Authentication: JSON Web Tokens of accounts, and keys of app servers.
//
// A token is verified off the event loop, since a signature costs as much as a hundred deliveries.
// A server key is stored as its hash, under a name, so that several can be valid while one is being
// replaced.
