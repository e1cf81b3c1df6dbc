// The hash of a key, with a seed against collisions that are meant: see csimdjson.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace {

inline uint64_t fold(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t word(const char *bytes) {
    uint64_t value;
    std::memcpy(&value, bytes, 8);
    return value;
}

[[gnu::always_inline]] inline uint32_t hash(std::string_view bytes, uint64_t seed) {
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

}  // namespace
