// See csimdjson.h. Three cases are handled here because simdjson does not handle them, or not
// in every version:
//
// * An integer beyond 64 bits, or 1e999, is valid JSON, but simdjson's DOM rejects the document.
//   Such a number is overwritten in the copy of the body by one that means "too large", and
//   the body is parsed again. Only bodies that simdjson rejects for a number pay for this.
// * `\ud800` without the second half of the surrogate pair is invalid. A separate pass finds it.
// * simdjson does not count the innermost level of nesting if it is empty.
#include "csimdjson.h"

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

namespace {

namespace dom = simdjson::dom;

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
    uint64_t seed = 0;
    // Of the current call.
    uint8_t *text = nullptr;
    size_t text_bytes = 0;
    size_t text_bytes_max = 0;
    uint32_t element_count = 0;
};

namespace {

void head(std::string_view bytes, uint64_t &low, uint64_t &high) {
    uint64_t words[2] = {0, 0};
    std::memcpy(words, bytes.data(), bytes.size() < 16 ? bytes.size() : 16);
    low = words[0];
    high = words[1];
}

uint64_t fold(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t word(const char *bytes) {
    uint64_t value;
    std::memcpy(&value, bytes, 8);
    return value;
}

uint32_t hash(std::string_view bytes, uint64_t seed) {
    const char *at = bytes.data();
    size_t count = bytes.size();
    uint64_t state = seed ^ (count * 0x9E3779B97F4A7C15u);
    uint64_t rest = 0;
    if (count >= 8) {
        const char *const last = at + count - 8;
        for (; at < last; at += 8) state = fold(state ^ word(at), 0xA0761D6478BD642Fu);
        rest = word(last);
    } else {
        for (; count > 0; count -= 1) rest = rest << 8 | static_cast<uint8_t>(*at++);
    }
    state = fold(state ^ rest, 0xE7037ED1A0B428DBu);
    return static_cast<uint32_t>(state ^ (state >> 32));
}

bool copy_text(csj_parser &p, std::string_view bytes, uint32_t &start, uint32_t &count) {
    if (bytes.size() > p.text_bytes_max - p.text_bytes) return false;
    std::memcpy(p.text + p.text_bytes, bytes.data(), bytes.size());
    start = static_cast<uint32_t>(p.text_bytes);
    count = static_cast<uint32_t>(bytes.size());
    p.text_bytes += bytes.size();
    return true;
}

/// What is wrong with a value that is only validated; the worst is the greatest.
enum class nesting { fine, duplicate, too_deep };

/// Whether a key appears more than once in an object. Nested objects are rare, large ones rarer.
bool has_duplicate_key(dom::object object) {
    std::vector<std::string_view> keys;
    for (dom::key_value_pair field : object) keys.push_back(field.key);
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

/// Whether `value`, which is at `level`, nests within the limit, and no object in it has a
/// duplicate key.
nesting check_nesting(dom::element value, int level) {
    dom::array array;
    dom::object object;
    nesting worst = nesting::fine;
    if (value.get(array) == simdjson::SUCCESS) {
        if (level > CSJ_DEPTH_MAX) return nesting::too_deep;
        for (dom::element element : array) {
            worst = std::max(worst, check_nesting(element, level + 1));
            if (worst == nesting::too_deep) return worst;
        }
    } else if (value.get(object) == simdjson::SUCCESS) {
        if (level > CSJ_DEPTH_MAX) return nesting::too_deep;
        if (has_duplicate_key(object)) worst = nesting::duplicate;
        for (dom::key_value_pair field : object) {
            worst = std::max(worst, check_nesting(field.value, level + 1));
            if (worst == nesting::too_deep) return worst;
        }
    }
    return worst;
}

csj_kind kind(dom::element value) {
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

/// The elements of an array in `params`, on the third level.
csj_status read_elements(
    csj_parser &p, dom::array array, csj_member &out, nesting &worst
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
            worst = std::max(worst, check_nesting(value, 4));
            if (worst == nesting::too_deep) return CSJ_TOO_DEEP;
        }
        p.element_count += 1;
    }
    out.count = p.element_count - out.start;
    return CSJ_OK;
}

enum class place { envelope, params };

csj_status read_value(
    csj_parser &p, dom::element value, place where, csj_member &out, nesting &worst
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
        return read_elements(p, array, out, worst);
    }
    worst = std::max(worst, check_nesting(value, where == place::envelope ? 2 : 3));
    return worst == nesting::too_deep ? CSJ_TOO_DEEP : CSJ_OK;
}

csj_status read_object(
    csj_parser &p, dom::object object, place where, csj_member *members, csj_object &out
) {
    out = {members, 0, CSJ_NONE};
    for (dom::key_value_pair field : object) {
        const uint32_t index = out.count++;
        if (index >= CSJ_MEMBERS_MAX) {
            const int level = where == place::envelope ? 2 : 3;
            if (check_nesting(field.value, level) == nesting::too_deep) return CSJ_TOO_DEEP;
            continue;
        }
        for (uint32_t before = 0; before < index && out.duplicate == CSJ_NONE; before += 1) {
            if (p.keys[before] == field.key) out.duplicate = index;
        }
        p.keys[index] = field.key;
        csj_member &member = members[index];
        member = csj_member{};
        head(field.key, member.key_low, member.key_high);
        member.key_count = static_cast<uint32_t>(field.key.size());
        if (where == place::envelope && field.key == "params" && field.value.is_object()) {
            member.kind = CSJ_OBJECT;  // Read as a separate object; a second one is rejected.
            continue;
        }
        nesting worst = nesting::fine;
        const csj_status status = read_value(p, field.value, where, member, worst);
        if (status != CSJ_OK) return status;
        if (worst == nesting::duplicate && out.duplicate == CSJ_NONE) out.duplicate = index;
    }
    return CSJ_OK;
}

/// Whether every escaped high surrogate is followed by a low one, and no low one is alone.
bool has_whole_surrogates(const uint8_t *body, size_t count) {
    const uint8_t *at = body;
    const uint8_t *const end = body + count;
    auto unit = [&](const uint8_t *escape) -> int {
        if (end - escape < 6 || escape[0] != '\\' || escape[1] != 'u') return -1;
        int value = 0;
        for (int digit = 2; digit < 6; digit += 1) {
            const int byte = escape[digit] | 0x20;
            value = value * 16 + (byte <= '9' ? byte - '0' : byte - 'a' + 10);
        }
        return value;
    };
    while (at < end) {
        at = static_cast<const uint8_t *>(std::memchr(at, '\\', end - at));
        if (at == nullptr) return true;
        const int first = unit(at);
        if (first >= 0xDC00 && first <= 0xDFFF) return false;
        if (first >= 0xD800 && first <= 0xDBFF) {
            const int second = unit(at + 6);
            if (second < 0xDC00 || second > 0xDFFF) return false;
            at += 12;
        } else {
            at += first < 0 ? 2 : 6;
        }
    }
    return true;
}

bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

/// The end of the JSON number that begins at `at`; NULL if it is not a number. `*whole` is
/// whether it has neither a fraction nor an exponent.
const uint8_t *number_end(const uint8_t *at, bool *whole) {
    *whole = true;
    if (*at == '-') at += 1;
    if (!is_digit(*at)) return nullptr;
    const bool zero = *at == '0';
    at += 1;
    if (zero && is_digit(*at)) return nullptr;
    while (is_digit(*at)) at += 1;
    if (*at == '.') {
        *whole = false;
        at += 1;
        if (!is_digit(*at)) return nullptr;
        while (is_digit(*at)) at += 1;
    }
    if (*at == 'e' || *at == 'E') {
        *whole = false;
        at += 1;
        if (*at == '+' || *at == '-') at += 1;
        if (!is_digit(*at)) return nullptr;
        while (is_digit(*at)) at += 1;
    }
    return at;
}

/// Overwrites numbers that exceed every machine type by ones that mean "too large".
/// The zeros of the padding end every loop.
void shorten_numbers(uint8_t *body, size_t count) {
    static const char huge[] = "18446744073709551615";
    const size_t huge_bytes = sizeof(huge) - 1;
    uint8_t *at = body;
    uint8_t *const end = body + count;
    while (at < end) {
        if (*at == '"') {
            for (at += 1; at < end && *at != '"'; at += 1) {
                if (*at == '\\') at += 1;
            }
            at += 1;
            continue;
        }
        if (*at != '-' && !is_digit(*at)) {
            at += 1;
            continue;
        }
        bool whole;
        const uint8_t *stop = number_end(at, &whole);
        if (stop == nullptr) return;
        const auto bytes = static_cast<size_t>(stop - at);
        const bool fits = bytes == 20 && std::memcmp(at, "-9223372036854775808", 20) <= 0;
        if (whole && bytes >= huge_bytes && !fits) {
            std::memset(at, ' ', bytes);
            std::memcpy(at, huge, huge_bytes);
        } else if (!whole && bytes >= 3) {
            std::memset(at, ' ', bytes);
            std::memcpy(at, "0.5", 3);
        }
        at += bytes;
    }
}

csj_status parse(csj_parser &p, size_t count, dom::element &root) {
    auto read = [&]() -> simdjson::error_code {
        return p.parser.parse(p.memory.body, count, false).get(root);
    };
    simdjson::error_code error = read();
    if (error == simdjson::NUMBER_ERROR) {
        shorten_numbers(p.memory.body, count);
        error = read();
    }
    if (error == simdjson::SUCCESS) return CSJ_OK;
    if (error == simdjson::MEMALLOC || error == simdjson::CAPACITY) return CSJ_NO_MEMORY;
    // For a truncated text simdjson does not report invalid UTF-8.
    const auto *characters = reinterpret_cast<const char *>(p.memory.body);
    if (!simdjson::validate_utf8(characters, count)) return CSJ_INVALID_UTF8;
    return error == simdjson::DEPTH_ERROR ? CSJ_TOO_DEEP : CSJ_INVALID_JSON;
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
    *document = {
        {p.envelope, 0, CSJ_NONE}, {p.params, 0, CSJ_NONE}, p.memory.elements, 0,
    };
    if (body_bytes == 0) return CSJ_INVALID_JSON;
    if (body_bytes > UINT32_MAX / 2 || !p.memory.reserve(body_bytes)) return CSJ_NO_MEMORY;
    std::memcpy(p.memory.body, body, body_bytes);
    std::memset(p.memory.body + body_bytes, 0, simdjson::SIMDJSON_PADDING);
    p.text = text;
    p.text_bytes = 0;
    p.text_bytes_max = text_bytes_max;
    p.element_count = 0;
    // Later versions of simdjson skip a byte order mark.
    if (body_bytes >= 3 && std::memcmp(body, "\xEF\xBB\xBF", 3) == 0) return CSJ_INVALID_JSON;

    dom::element root;
    csj_status status = parse(p, body_bytes, root);
    if (status != CSJ_OK) return status;
    if (!has_whole_surrogates(p.memory.body, body_bytes)) return CSJ_INVALID_JSON;
    dom::object envelope;
    if (root.get(envelope) != simdjson::SUCCESS) {
        if (check_nesting(root, 1) == nesting::too_deep) return CSJ_TOO_DEEP;
        return root.is_array() ? CSJ_ARRAY_AT_TOP : CSJ_NOT_AN_OBJECT;
    }
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

}  // extern "C"
