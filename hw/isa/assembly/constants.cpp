#include "hw/isa/assembly/constants.h"

#include <charconv>

namespace systole::isa {
namespace {

std::optional<std::uint64_t> unsigned_number(std::string_view text) {
    const bool is_hexadecimal = text.starts_with("0x");
    if (is_hexadecimal) text.remove_prefix(2);
    const char* const end = text.data() + text.size();
    std::uint64_t value = 0;
    const auto [stopped, error] = std::from_chars(text.data(), end, value, is_hexadecimal ? 16 : 10);
    if (error != std::errc() || stopped != end) return std::nullopt;
    return value;
}

/// The sum, or nullopt if it does not fit.
std::optional<WholeNumber> sum_of(const WholeNumber& number, std::uint64_t offset) {
    if (number.is_negative) {
        if (offset < number.magnitude) return WholeNumber{true, number.magnitude - offset};
        return WholeNumber{false, offset - number.magnitude};
    }
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(number.magnitude, offset, &sum)) return std::nullopt;
    return WholeNumber{false, sum};
}

}  // namespace

std::optional<WholeNumber> Constants::number(std::string_view text) const {
    const bool is_negative = text.starts_with('-');
    if (const auto literal = unsigned_number(text.substr(is_negative ? 1 : 0))) {
        return WholeNumber{is_negative && *literal != 0, *literal};
    }
    const std::size_t plus = text.find('+');
    const auto constant = numbers_.find(text.substr(0, plus));
    if (constant == numbers_.end()) return std::nullopt;
    if (plus == std::string_view::npos) return constant->second;
    const auto offset = unsigned_number(text.substr(plus + 1));
    return offset ? sum_of(constant->second, *offset) : std::nullopt;
}

}  // namespace systole::isa
