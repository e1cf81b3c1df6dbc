#include "csqlite.h"

#include <sqlite3.h>
#include <stddef.h>

int csqlite_keep_log(struct sqlite3 *connection, int is_kept) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_kept, (int *)NULL);
}
