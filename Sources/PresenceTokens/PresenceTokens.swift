// Who somebody is: JSON Web Tokens of accounts, and keys of app servers.
//
// A token is judged off the loop's thread, since a signature costs what a hundred deliveries do.
// A server key is kept as its hash, under a name, so that several can be valid while one is
// being replaced.
