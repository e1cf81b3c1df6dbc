// Files of this repository that the service serves unchanged, as they were at build time.
#pragma once
#include <stddef.h>

/// A file by its name without folders. Static: valid as long as the process.
struct embedded_file {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// docs/openapi.json.
extern const struct embedded_file embedded_description;
/// The files of clients/js/src, and the scripts of clients/js/dist. porchlight.min.js is also there
/// compressed.
const struct embedded_file *embedded_sdk(void);
extern const size_t embedded_sdk_count;
/// The files of clients/console.
const struct embedded_file *embedded_console(void);
extern const size_t embedded_console_count;
/// The files of clients/demo.
const struct embedded_file *embedded_demo(void);
extern const size_t embedded_demo_count;
