// What is done to the bytes of a body without a parser: see csimdjson.cpp.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

/// Whether every escaped high surrogate is followed by a low one, and no low one is alone.
[[gnu::always_inline]] inline bool has_whole_surrogates(const uint8_t *body, size_t count) {
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

/// Whether a number exceeds a double.
bool is_infinite(const uint8_t *at) {
    return std::isinf(std::strtod(reinterpret_cast<const char *>(at), nullptr));
}

/// Overwrites numbers that exceed every machine type by ones that mean "too large". Returns whether
/// there was one. The zeros of the padding end every loop.
bool shorten_numbers(uint8_t *body, size_t count) {
    static const char huge[] = "18446744073709551615";
    const size_t huge_bytes = sizeof(huge) - 1;
    uint8_t *at = body;
    uint8_t *const end = body + count;
    bool any = false;
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
        if (stop == nullptr) return any;
        const auto bytes = static_cast<size_t>(stop - at);
        const bool fits = bytes == 20 && std::memcmp(at, "-9223372036854775808", 20) <= 0;
        if (whole && bytes >= huge_bytes && !fits) {
            std::memset(at, ' ', bytes);
            std::memcpy(at, huge, huge_bytes);
            any = true;
        } else if (!whole && is_infinite(at)) {
            std::memset(at, ' ', bytes);
            std::memcpy(at, "0.5", 3);
            any = true;
        }
        at += bytes;
    }
    return any;
}

}  // namespace
