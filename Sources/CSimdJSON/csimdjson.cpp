// See csimdjson.h. Three cases are handled here because simdjson does not handle them, or not
// in every version:
//
// * An integer beyond 64 bits, or 1e999, is valid JSON, but simdjson's DOM rejects the document.
//   Such a number is overwritten in the copy of the body by one that means "too large", and
//   the body is parsed again. Only bodies that simdjson rejects pay for this: by which error
//   depends on its version.
// * `\ud800` without the second half of the surrogate pair is invalid. A separate pass finds it.
// * simdjson does not count the innermost level of nesting if it is empty.
#include "csimdjson.h"

#include "bytes.h"
#include "hash.h"
#include "nesting.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

// For what reads frames and calls, and so has two callers: a frame would cost 5 % more without it.
#define INLINED [[gnu::always_inline]] inline

namespace {

struct buffers {
    uint8_t *body = nullptr;
    csj_element *elements = nullptr;
    size_t body_bytes_max = 0;

    ~buffers() {
        std::free(body);
        std::free(elements);
    }

    bool reserve(size_t bytes) {
        if (body != nullptr && bytes <= body_bytes_max) return true;
        // An element takes at least a byte and a comma. Pages are touched only when used.
        auto *new_body =
            static_cast<uint8_t *>(std::calloc(1, bytes + simdjson::SIMDJSON_PADDING));
        auto *new_elements =
            static_cast<csj_element *>(std::malloc((bytes / 2 + 1) * sizeof(csj_element)));
        if (new_body == nullptr || new_elements == nullptr) {
            std::free(new_body);
            std::free(new_elements);
            return false;
        }
        std::free(body);
        std::free(elements);
        body = new_body;
        elements = new_elements;
        body_bytes_max = bytes;
        return true;
    }
};

}  // namespace

struct csj_parser {
    dom::parser parser{};
    buffers memory{};
    csj_member envelope[CSJ_MEMBERS_MAX];
    csj_member params[CSJ_MEMBERS_MAX];
    std::string_view keys[CSJ_MEMBERS_MAX];
    csj_word unknown[CSJ_UNKNOWN_MAX];
    uint64_t found_in_envelope = 0;
    uint64_t found_in_params = 0;
    uint64_t seed = 0;
    // Of the current call.
    uint8_t *text = nullptr;
    size_t text_bytes = 0;
    size_t text_bytes_max = 0;
    uint32_t element_count = 0;
};

namespace {

INLINED void head(std::string_view bytes, uint64_t &low, uint64_t &high) {
    uint64_t words[2] = {0, 0};
    std::memcpy(words, bytes.data(), bytes.size() < 16 ? bytes.size() : 16);
    low = words[0];
    high = words[1];
}

INLINED bool copy_text(csj_parser &p, std::string_view bytes, uint32_t &start, uint32_t &count) {
    if (bytes.size() > p.text_bytes_max - p.text_bytes) return false;
    std::memcpy(p.text + p.text_bytes, bytes.data(), bytes.size());
    start = static_cast<uint32_t>(p.text_bytes);
    count = static_cast<uint32_t>(bytes.size());
    p.text_bytes += bytes.size();
    return true;
}

INLINED csj_kind kind(dom::element value) {
    switch (value.type()) {
        case dom::element_type::ARRAY: return CSJ_ARRAY;
        case dom::element_type::OBJECT: return CSJ_OBJECT;
        case dom::element_type::INT64: return CSJ_INTEGER;
        case dom::element_type::UINT64: return CSJ_HUGE_INTEGER;
        case dom::element_type::DOUBLE: return CSJ_FRACTION;
        case dom::element_type::STRING: return CSJ_STRING;
        case dom::element_type::BOOL: {
            bool flag = false;
            return value.get(flag) == simdjson::SUCCESS && flag ? CSJ_TRUE : CSJ_FALSE;
        }
        default: return CSJ_NULL;
    }
}

/// The elements of an array in `params`, which is at `level`.
INLINED csj_status read_elements(
    csj_parser &p, dom::array array, int level, csj_member &out, nesting &worst
) {
    out.start = p.element_count;
    for (dom::element value : array) {
        csj_element &element = p.memory.elements[p.element_count];
        element = {kind(value), 0, 0, 0};
        if (element.kind == CSJ_STRING) {
            std::string_view bytes;
            if (value.get(bytes) != simdjson::SUCCESS) return CSJ_INVALID_JSON;
            if (!copy_text(p, bytes, element.start, element.count)) return CSJ_NO_MEMORY;
            element.hash = hash(bytes, p.seed);
        } else {
            worst = std::max(worst, check_nesting(value, level + 1));
            if (worst == nesting::too_deep) return CSJ_TOO_DEEP;
        }
        p.element_count += 1;
    }
    out.count = p.element_count - out.start;
    return CSJ_OK;
}

enum class place { envelope, params };

// The members of an object as elements, each with the kind of its value and the text of its key.
INLINED bool read_keys(csj_parser &p, dom::object object, csj_member &out) {
    out.start = p.element_count;
    for (dom::key_value_pair field : object) {
        csj_element element = {kind(field.value), 0, 0, 0};
        if (!copy_text(p, field.key, element.start, element.count)) return false;
        p.memory.elements[p.element_count++] = element;
    }
    out.count = p.element_count - out.start;
    return true;
}

INLINED csj_status read_value(
    csj_parser &p, dom::element value, place where, int level, csj_member &out, nesting &worst
) {
    out.kind = kind(value);
    if (out.kind == CSJ_STRING) {
        std::string_view bytes;
        if (value.get(bytes) != simdjson::SUCCESS) return CSJ_INVALID_JSON;
        head(bytes, out.head_low, out.head_high);
        return copy_text(p, bytes, out.start, out.count) ? CSJ_OK : CSJ_NO_MEMORY;
    }
    if (out.kind == CSJ_INTEGER) {
        return value.get(out.integer) == simdjson::SUCCESS ? CSJ_OK : CSJ_INVALID_JSON;
    }
    dom::array array;
    if (where == place::params && value.get(array) == simdjson::SUCCESS) {
        return read_elements(p, array, level, out, worst);
    }
    dom::object object;
    const bool is_listed = where == place::params && value.get(object) == simdjson::SUCCESS;
    if (is_listed && !read_keys(p, object, out)) return CSJ_NO_MEMORY;
    worst = std::max(worst, check_nesting(value, level));
    return worst == nesting::too_deep ? CSJ_TOO_DEEP : CSJ_OK;
}

/// The members of an object of parameters that are listed.
struct known_words {
    const csj_word *words;
    size_t count;

    bool contain(std::string_view key) const {
        uint64_t low, high;
        head(key, low, high);
        return std::any_of(words, words + count, [&](const csj_word &word) {
            return word.count == key.size() && word.low == low && word.high == high;
        });
    }
};

INLINED csj_status read_member(
    csj_parser &p, dom::key_value_pair field, place where, uint32_t index, csj_object &out,
    csj_member &member, int level
) {
    for (uint32_t before = 0; before < index && out.duplicate == CSJ_NONE; before += 1) {
        if (p.keys[before] == field.key) out.duplicate = index;
    }
    p.keys[index] = field.key;
    member = csj_member{};
    head(field.key, member.key_low, member.key_high);
    member.key_count = static_cast<uint32_t>(field.key.size());
    if (where == place::envelope && field.key == "params" && field.value.is_object()) {
        member.kind = CSJ_OBJECT;  // Read as a separate object; a second one is rejected.
        return CSJ_OK;
    }
    nesting worst = nesting::fine;
    const csj_status status = read_value(p, field.value, where, level, member, worst);
    if (worst == nesting::duplicate && out.duplicate == CSJ_NONE) out.duplicate = index;
    return status;
}

csj_status read_object(
    csj_parser &p, dom::object object, place where, csj_member *members, csj_object &out
) {
    const int level = where == place::envelope ? 2 : 3;
    out = {members, 0, CSJ_NONE, out.found};
    for (dom::key_value_pair field : object) {
        const uint32_t index = out.count++;
        if (index >= CSJ_MEMBERS_MAX) {
            if (check_nesting(field.value, level) == nesting::too_deep) return CSJ_TOO_DEEP;
            continue;
        }
        const csj_status status = read_member(p, field, where, index, out, members[index], level);
        if (status != CSJ_OK) return status;
    }
    return CSJ_OK;
}

/// As JSON Schema defines integers: a number without a fractional part is one.
void read_as_integer(dom::element value, csj_member &member) {
    double number = 0;
    if (member.kind != CSJ_FRACTION || value.get(number) != simdjson::SUCCESS) return;
    if (number <= -9.2e18 || number >= 9.2e18) {
        member.kind = CSJ_HUGE_INTEGER;  // So large a double has no fractional part.
        return;
    }
    const auto integer = static_cast<int64_t>(number);
    if (static_cast<double>(integer) != number) return;
    member.kind = CSJ_INTEGER;
    member.integer = integer;
}

void note_unknown(csj_parser &p, std::string_view key, csj_document &document) {
    if (document.unknown_count == CSJ_UNKNOWN_MAX) return;
    csj_word &word = p.unknown[document.unknown_count++];
    head(key, word.low, word.high);
    word.count = static_cast<uint32_t>(key.size());
}

csj_status read_params(
    csj_parser &p, dom::object object, known_words known, csj_document &document
) {
    csj_object &out = document.params;
    // The object itself is on this level.
    const int level = CSJ_DEPTH_MAX - CSJ_PARAMS_DEPTH_MAX + 1;
    size_t count = 0;
    nesting unlisted = nesting::fine;
    for (dom::key_value_pair field : object) {
        count += 1;
        if (!known.contain(field.key) || out.count == CSJ_MEMBERS_MAX) {
            note_unknown(p, field.key, document);
            unlisted = std::max(unlisted, check_nesting(field.value, level + 1));
            if (unlisted == nesting::too_deep) return CSJ_TOO_DEEP;
            continue;
        }
        const uint32_t index = out.count++;
        csj_member &member = p.params[index];
        const csj_status status =
            read_member(p, field, place::params, index, out, member, level + 1);
        if (status != CSJ_OK) return status;
        read_as_integer(field.value, member);
    }
    if (count > CSJ_MEMBERS_MAX) return CSJ_TOO_MANY_MEMBERS;
    if (out.duplicate != CSJ_NONE) return CSJ_OK;  // It is reported with its name.
    return unlisted != nesting::fine || has_duplicate_key(object) ? CSJ_DUPLICATE_KEY : CSJ_OK;
}

INLINED csj_status parse(csj_parser &p, size_t count, dom::element &root) {
    auto read = [&]() -> simdjson::error_code {
        return p.parser.parse(p.memory.body, count, false).get(root);
    };
    simdjson::error_code error = read();
    if (error == simdjson::SUCCESS) return CSJ_OK;
    if (error == simdjson::MEMALLOC || error == simdjson::CAPACITY) return CSJ_NO_MEMORY;
    if (shorten_numbers(p.memory.body, count)) error = read();
    if (error == simdjson::SUCCESS) return CSJ_OK;
    // For a truncated text simdjson does not report invalid UTF-8.
    const auto *characters = reinterpret_cast<const char *>(p.memory.body);
    if (!simdjson::validate_utf8(characters, count)) return CSJ_INVALID_UTF8;
    return error == simdjson::DEPTH_ERROR ? CSJ_TOO_DEEP : CSJ_INVALID_JSON;
}

void clear(csj_parser &p, uint8_t *text, size_t text_bytes_max, csj_document *document) {
    p.found_in_envelope = 0;
    p.found_in_params = 0;
    document->envelope = {p.envelope, 0, CSJ_NONE, &p.found_in_envelope};
    document->params = {p.params, 0, CSJ_NONE, &p.found_in_params};
    document->elements = p.memory.elements;
    document->element_count = 0;
    document->unknown = p.unknown;
    document->unknown_count = 0;
    p.text = text;
    p.text_bytes = 0;
    p.text_bytes_max = text_bytes_max;
    p.element_count = 0;
}

/// Validates the body.
INLINED csj_status begin(
    csj_parser &p, const uint8_t *body, size_t body_bytes, uint8_t *text, size_t text_bytes_max,
    csj_document *document, dom::element &root
) {
    clear(p, text, text_bytes_max, document);
    if (body_bytes == 0) return CSJ_INVALID_JSON;
    if (body_bytes > UINT32_MAX / 2 || !p.memory.reserve(body_bytes)) return CSJ_NO_MEMORY;
    std::memcpy(p.memory.body, body, body_bytes);
    std::memset(p.memory.body + body_bytes, 0, simdjson::SIMDJSON_PADDING);
    // Later versions of simdjson skip a byte order mark.
    if (body_bytes >= 3 && std::memcmp(body, "\xEF\xBB\xBF", 3) == 0) return CSJ_INVALID_JSON;
    const csj_status status = parse(p, body_bytes, root);
    if (status != CSJ_OK) return status;
    return has_whole_surrogates(p.memory.body, body_bytes) ? CSJ_OK : CSJ_INVALID_JSON;
}

csj_status no_object(dom::element root) {
    if (check_nesting(root, 1) == nesting::too_deep) return CSJ_TOO_DEEP;
    return root.is_array() ? CSJ_ARRAY_AT_TOP : CSJ_NOT_AN_OBJECT;
}

std::string_view text_of(const uint8_t *bytes, size_t count) {
    return count == 0 ? std::string_view("", 0)
                      : std::string_view(reinterpret_cast<const char *>(bytes), count);
}

/// A new member of `params`; NULL if there are too many.
csj_member *add_member(csj_parser &p, csj_word key, csj_kind kind, csj_document *document) {
    if (document->params.count >= CSJ_MEMBERS_MAX) return nullptr;
    csj_member &member = p.params[document->params.count++];
    member = csj_member{};
    member.key_low = key.low;
    member.key_high = key.high;
    member.key_count = key.count;
    member.kind = kind;
    return &member;
}

}  // namespace

extern "C" {

csj_parser *csj_parser_create(size_t body_bytes_max) {
    auto *p = new (std::nothrow) csj_parser;
    if (p == nullptr) return nullptr;
    // simdjson rejects at its maximum depth, not beyond it.
    if (!p->memory.reserve(body_bytes_max)
        || p->parser.allocate(body_bytes_max, CSJ_DEPTH_MAX + 1) != simdjson::SUCCESS) {
        delete p;
        return nullptr;
    }
    p->seed = fold(reinterpret_cast<uintptr_t>(p) | 1, 0x9E3779B97F4A7C15u);
    return p;
}

void csj_parser_destroy(csj_parser *parser) { delete parser; }

bool csj_is_utf8(const uint8_t *bytes, size_t count) {
    return simdjson::validate_utf8(reinterpret_cast<const char *>(bytes), count);
}

csj_status csj_parse(
    csj_parser *parser, const uint8_t *body, size_t body_bytes, uint8_t *text,
    size_t text_bytes_max, csj_document *document
) {
    csj_parser &p = *parser;
    dom::element root;
    csj_status status = begin(p, body, body_bytes, text, text_bytes_max, document, root);
    if (status != CSJ_OK) return status;
    dom::object envelope;
    if (root.get(envelope) != simdjson::SUCCESS) return no_object(root);
    status = read_object(p, envelope, place::envelope, p.envelope, document->envelope);
    if (status != CSJ_OK) return status;
    for (dom::key_value_pair field : envelope) {
        dom::object params;
        if (field.key != "params" || field.value.get(params) != simdjson::SUCCESS) continue;
        status = read_object(p, params, place::params, p.params, document->params);
        break;
    }
    document->elements = p.memory.elements;
    document->element_count = p.element_count;
    return status;
}

csj_status csj_check(csj_parser *parser, const uint8_t *body, size_t body_bytes) {
    csj_document document;
    dom::element root;
    const csj_status status = begin(*parser, body, body_bytes, nullptr, 0, &document, root);
    const nesting worst = status == CSJ_OK ? check_nesting(root, 1) : nesting::fine;
    if (worst == nesting::too_deep) return CSJ_TOO_DEEP;
    return worst == nesting::duplicate ? CSJ_DUPLICATE_KEY : status;
}

csj_status csj_parse_params(
    csj_parser *parser, const uint8_t *body, size_t body_bytes, const csj_word *known,
    size_t known_count, uint8_t *text, size_t text_bytes_max, csj_document *document
) {
    csj_parser &p = *parser;
    if (body == nullptr) {
        clear(p, text, text_bytes_max, document);
        return CSJ_OK;
    }
    dom::element root;
    csj_status status = begin(p, body, body_bytes, text, text_bytes_max, document, root);
    if (status != CSJ_OK) return status;
    dom::object params;
    if (root.get(params) != simdjson::SUCCESS) return no_object(root);
    status = read_params(p, params, {known, known_count}, *document);
    document->elements = p.memory.elements;
    document->element_count = p.element_count;
    return status;
}

bool csj_add_integer(
    csj_parser *parser, csj_word key, csj_kind kind, int64_t value, csj_document *document
) {
    csj_member *member = add_member(*parser, key, kind, document);
    if (member != nullptr) member->integer = value;
    return member != nullptr;
}

bool csj_add_text(
    csj_parser *parser, csj_word key, const uint8_t *bytes, size_t count, uint8_t *text,
    size_t text_bytes_max, csj_document *document
) {
    csj_member *member = add_member(*parser, key, CSJ_STRING, document);
    if (member == nullptr) return false;
    const std::string_view view = text_of(bytes, count);
    head(view, member->head_low, member->head_high);
    parser->text = text;
    parser->text_bytes_max = text_bytes_max;
    return copy_text(*parser, view, member->start, member->count);
}

bool csj_add_array(csj_parser *parser, csj_word key, csj_document *document) {
    csj_member *member = add_member(*parser, key, CSJ_ARRAY, document);
    if (member != nullptr) member->start = parser->element_count;
    return member != nullptr;
}

bool csj_add_element(
    csj_parser *parser, const uint8_t *bytes, size_t count, uint8_t *text, size_t text_bytes_max,
    csj_document *document
) {
    csj_parser &p = *parser;
    const uint32_t last = document->params.count;
    if (last == 0 || p.params[last - 1].kind != CSJ_ARRAY
        || p.element_count >= p.memory.body_bytes_max / 2)
        return false;
    const std::string_view view = text_of(bytes, count);
    csj_element &element = p.memory.elements[p.element_count];
    element = {CSJ_STRING, 0, 0, hash(view, p.seed)};
    p.text = text;
    p.text_bytes_max = text_bytes_max;
    if (!copy_text(p, view, element.start, element.count)) return false;
    p.params[last - 1].count += 1;
    p.element_count += 1;
    document->element_count = p.element_count;
    return true;
}

}  // extern "C"
