// Reads one JSON-RPC 2.0 request, with simdjson's DOM parser; or the parameters of one, where the
// method is known and further parameters are given beside the body.
//
// It checks that the body is JSON, and lists the members of the request object, the members of
// `params`, the elements of the arrays in `params`, and the keys of the objects in it. What is
// nested deeper is validated and not listed. Texts are copied, unescaped, into memory of the
// caller; the tables belong to the parser and are valid until its next call. Nothing is thrown,
// and nothing is allocated for bodies within the parser's capacity.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Members of one object that are listed; the rest are only counted.
#define CSJ_MEMBERS_MAX 64
/// Levels of nesting that are accepted. The request object is the first level.
#define CSJ_DEPTH_MAX 32
/// The same where the body is an object of parameters.
#define CSJ_PARAMS_DEPTH_MAX 30
/// Keys of members that are not known which are listed all the same.
#define CSJ_UNKNOWN_MAX 16
/// No such index.
#define CSJ_NONE UINT32_MAX

typedef struct csj_parser csj_parser;

typedef enum csj_status {
    CSJ_OK = 0,
    CSJ_INVALID_JSON,
    CSJ_INVALID_UTF8,
    CSJ_TOO_DEEP,
    CSJ_ARRAY_AT_TOP,
    CSJ_NOT_AN_OBJECT,
    /// An object of parameters has more members than are listed.
    CSJ_TOO_MANY_MEMBERS,
    /// A key appears more than once in an object: in any of a body that is checked, or in a member
    /// of parameters that is not listed.
    CSJ_DUPLICATE_KEY,
    CSJ_NO_MEMORY,
} csj_status;

typedef enum csj_kind {
    CSJ_NULL = 0,
    CSJ_FALSE,
    CSJ_TRUE,
    CSJ_INTEGER,
    /// An integer that exceeds 64 bits with a sign.
    CSJ_HUGE_INTEGER,
    /// A number with a fraction or an exponent, including 1.0 and 1e4.
    CSJ_FRACTION,
    CSJ_STRING,
    CSJ_ARRAY,
    CSJ_OBJECT,
} csj_kind;

/// A member of an object. A key or a text is compared by its head, the first 16 bytes padded
/// with zeros, together with its count.
typedef struct csj_member {
    uint64_t key_low, key_high;
    uint64_t head_low, head_high;
    int64_t integer;
    uint32_t key_count;
    csj_kind kind;
    /// A string: its offset in the text. An array or an object in `params`: the index of its first
    /// element.
    uint32_t start;
    /// A string: its bytes. An array or an object in `params`: its elements.
    uint32_t count;
} csj_member;

/// An element of an array, or a member of an object: the kind of its value, and its key as text.
typedef struct csj_element {
    csj_kind kind;
    uint32_t start;
    uint32_t count;
    /// Of a string. Keyed per process, so that clients cannot construct collisions.
    uint32_t hash;
} csj_element;

typedef struct csj_object {
    const csj_member *members;
    /// All members; only the first CSJ_MEMBERS_MAX are in the table.
    uint32_t count;
    /// The first member whose key, unescaped, is a duplicate, or that contains an object with a
    /// duplicate key; or CSJ_NONE.
    uint32_t duplicate;
    /// A bit for each listed member; all are 0 when the object has been read. The caller sets those
    /// of members that it has found by their keys.
    uint64_t *found;
} csj_object;

/// A key, as in a member.
typedef struct csj_word {
    uint64_t low, high;
    uint32_t count;
} csj_word;

typedef struct csj_document {
    csj_object envelope;
    /// Empty if there is no object `params`.
    csj_object params;
    const csj_element *elements;
    uint32_t element_count;
    /// The keys of members that are not listed because they are not known: the first ones.
    const csj_word *unknown;
    uint32_t unknown_count;
} csj_document;

/// NULL if there is not enough memory.
csj_parser *csj_parser_create(size_t body_bytes_max);
void csj_parser_destroy(csj_parser *parser);

/// Reads `body`. `text` must have room for as many bytes as the body has.
csj_status csj_parse(
    csj_parser *parser, const uint8_t *body, size_t body_bytes, uint8_t *text,
    size_t text_bytes_max, csj_document *document);

/// Whether `body` is JSON without duplicate keys, however deep; nothing is listed.
csj_status csj_check(csj_parser *parser, const uint8_t *body, size_t body_bytes);

/// Whether bytes are valid UTF-8.
bool csj_is_utf8(const uint8_t *bytes, size_t count);
/// Reads `body` as `params`: only members with a key among `known` are listed, and a number
/// without a fractional part is an integer, however it is written. Duplicate keys are found among
/// all members. NULL: no members.
csj_status csj_parse_params(
    csj_parser *parser, const uint8_t *body, size_t body_bytes, const csj_word *known,
    size_t known_count, uint8_t *text, size_t text_bytes_max, csj_document *document);

// These add to `params` of the document that was read last. They return whether there was room.

/// Adds a member whose value is an integer; `kind` is CSJ_INTEGER or CSJ_HUGE_INTEGER.
bool csj_add_integer(
    csj_parser *parser, csj_word key, csj_kind kind, int64_t value, csj_document *document);
/// Adds a member whose value is a text.
bool csj_add_text(
    csj_parser *parser, csj_word key, const uint8_t *bytes, size_t count, uint8_t *text,
    size_t text_bytes_max, csj_document *document);
/// Adds a member whose value is an empty array.
bool csj_add_array(csj_parser *parser, csj_word key, csj_document *document);
/// Adds a text to the array that was added last.
bool csj_add_element(
    csj_parser *parser, const uint8_t *bytes, size_t count, uint8_t *text, size_t text_bytes_max,
    csj_document *document);

#ifdef __cplusplus
}
#endif
