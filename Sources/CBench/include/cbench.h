// What the load test has in C.
#pragma once
#include <spawn.h>
#include <stdint.h>

/// Serves the floor of a fan-out on a port of 127.0.0.1 that it prints, until a signal ends it.
///
/// `event_bytes` is the size of an event, if that is more than it has anyway. `fault` is what it
/// does wrong, for tests: `lose` or `double`, otherwise nothing.
_Noreturn void floor_serve(
    uint32_t accounts, uint32_t group, uint32_t event_bytes, const char *fault);

/// `posix_spawn_file_actions_addclosefrom_np`, which Swift does not see.
int spawn_actions_add_close_from(posix_spawn_file_actions_t *actions, int first);
