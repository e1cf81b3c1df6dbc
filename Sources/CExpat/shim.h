// Expat, with the protection against amplification, which its header declares only for builds that
// say that they have DTDs. Debian's has. What differs between its versions is here.
#pragma once
#ifndef XML_DTD
#define XML_DTD 1
#endif
#include <expat.h>
#include <stdint.h>
#include <string.h>

#define CEXPAT_VERSION (XML_MAJOR_VERSION * 100 + XML_MINOR_VERSION)

/// Makes hashes unpredictable, for a parser that has read nothing. Before version 2.8, only the
/// first half of the salt is used.
static inline void cexpat_set_hash_salt(XML_Parser parser, uint64_t low, uint64_t high) {
#if CEXPAT_VERSION >= 208
    uint8_t salt[16];
    memcpy(salt, &low, 8);
    memcpy(salt + 8, &high, 8);
    XML_SetHashSalt16Bytes(parser, salt);
#else
    (void)high;
    XML_SetHashSalt(parser, (unsigned long)low);
#endif
}

/// The place behind what a handler is called for, in bytes of the document.
static inline int64_t cexpat_position_after_token(XML_Parser parser) {
#if CEXPAT_VERSION >= 209
    return XML_GetCurrentByteIndex64(parser) + (int64_t)XML_GetCurrentByteCount64(parser);
#else
    return (int64_t)XML_GetCurrentByteIndex(parser) + XML_GetCurrentByteCount(parser);
#endif
}
