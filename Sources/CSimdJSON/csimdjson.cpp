extern "C" {
#include "csimdjson.h"
}
int csimdjson_placeholder(void) { return 0; }
