#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "sim/cli/schema/documents.h"

namespace systole::schema {
namespace {

using machine::KeyDescription;
using machine::Range;
using machine::RealRange;
using Type = KeyDescription::Type;

/// The number; large powers of two as "2^32".
std::string number_text(std::uint64_t number) {
    constexpr std::uint64_t large = 1U << 16U;
    if (number >= large && std::has_single_bit(number))
        return fmt::format("2^{}", std::bit_width(number) - 1);
    return fmt::format("{}", number);
}

std::string range_text(const Range& range) {
    // The largest number of the type means that there is no upper bound.
    const bool unbounded = range.most == std::numeric_limits<std::uint32_t>::max() ||
                           range.most == std::numeric_limits<std::uint64_t>::max();
    const std::string least = number_text(range.least);
    return unbounded ? "at least " + least : fmt::format("{} to {}", least, number_text(range.most));
}

std::string range_text(const RealRange& range) {
    return fmt::format("{:g} to {:g}", range.least, range.most);
}

}  // namespace

std::string default_text(const KeyDescription& key) {
    if (key.needed) return "needed";
    if (!key.if_absent.empty()) return key.if_absent;
    if (key.value_if_absent.is_null()) return "-";
    if (key.value_if_absent.is_string()) return key.value_if_absent.get<std::string>();
    return key.value_if_absent.dump();
}

std::string values_text(const KeyDescription& key) {
    switch (key.type) {
        case Type::WholeNumber:
            return range_text(key.range.value());
        case Type::Number:
            return range_text(key.real_range.value());
        case Type::Switch:
            return "true or false";
        case Type::Text:
            return "text";
        case Type::ListOfTexts:
            return "texts";
        case Type::ListOfNumbers:
            return "numbers, each " + range_text(key.real_range.value());
        case Type::Choice:
            return fmt::format("{}", fmt::join(key.choices, " or "));
        case Type::Section:
            return "section";
        case Type::Sections:
            return "list of sections";
        case Type::TextsByName:
            return "texts by key";
        case Type::ValuesByName:
            return "values by key";
    }
    throw std::logic_error("a type of keys without a text");
}

std::string meaning_text(const KeyDescription& key) {
    return key.rule.empty() ? key.meaning : fmt::format("{} ({})", key.meaning, key.rule);
}

}  // namespace systole::schema
