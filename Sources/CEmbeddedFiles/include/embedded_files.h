// Files of this repository that the service serves unchanged, as they were at build time.
#pragma once
#include <stddef.h>

/// A file. Static: valid as long as the process.
struct embedded_file {
    /// Where it is served, and its name: console/ has the files of clients/console, demo/ those of
    /// clients/demo, sdk/ those of clients/js/src and the scripts of clients/js/dist. Of
    /// porchlight.min.js there is also the compressed form. openapi.json is in no folder.
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

const struct embedded_file *embedded_files(void);
extern const size_t embedded_files_count;
