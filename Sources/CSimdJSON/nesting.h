// What is checked of values that are not listed: see csimdjson.cpp.
#pragma once
#include "csimdjson.h"
#include "hash.h"

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace dom = simdjson::dom;

/// What is wrong with a value that is only validated; the worst is the greatest.
enum class nesting { fine, duplicate, too_deep };

/// Whether a key appears more than once in an object of any size. Hashes decide the order of most
/// keys; the keys themselves make it the same for all, so that collisions do not cost more.
bool has_duplicate_among_many(dom::object object) {
    std::vector<std::pair<uint32_t, std::string_view>> keys;
    for (dom::key_value_pair field : object) keys.emplace_back(hash(field.key, 0), field.key);
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

/// Whether a key appears more than once in an object. Nested objects are rare, large ones rarer.
bool has_duplicate_key(dom::object object) {
    constexpr size_t few = 8;
    std::string_view keys[few];
    size_t count = 0;
    for (dom::key_value_pair field : object) {
        if (count == few) return has_duplicate_among_many(object);
        if (std::find(keys, keys + count, field.key) != keys + count) return true;
        keys[count++] = field.key;
    }
    return false;
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

}  // namespace
