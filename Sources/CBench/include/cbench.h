// What the load test has in C.
#pragma once
#include <stdint.h>

/// Serves the floor of a fan-out on a port of 127.0.0.1 that it prints, until a signal ends it.
///
/// `event_bytes` is the size of an event, if that is more than it has anyway. `fault` is what it
/// does wrong, for tests: `lose` or `double`, otherwise nothing.
_Noreturn void floor_serve(
    uint32_t accounts, uint32_t group, uint32_t event_bytes, const char *fault);
