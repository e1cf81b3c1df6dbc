// Expat, with the protection against amplification, which its header declares only for builds that
// say that they have DTDs. Debian's has.
#pragma once
#ifndef XML_DTD
#define XML_DTD 1
#endif
#include <expat.h>
