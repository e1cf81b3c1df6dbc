// What of SQLite cannot be called from Swift: functions with a variable number of arguments.
#pragma once

struct sqlite3;

/// Whether closing a connection leaves the write-ahead log as it is, instead of copying it into the
/// database and removing it. Returns SQLite's result code.
int csqlite_keep_log(struct sqlite3 *connection, int is_kept);
