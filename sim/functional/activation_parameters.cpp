#include "sim/functional/activation_parameters.h"

#include <algorithm>

namespace systole::functional {
namespace {

constexpr std::size_t word_bytes = 4;

/// Sets the first `columns` values from that number of words, and the others to 0.
void load_words(std::span<const std::uint8_t> bytes, std::size_t columns, std::vector<std::int32_t>& values) {
    std::fill(values.begin(), values.end(), 0);
    for (std::size_t c = 0; c < columns; ++c) values[c] = little_endian_word(bytes.subspan(c * word_bytes));
}

}  // namespace

std::int32_t little_endian_word(std::span<const std::uint8_t> bytes) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < word_bytes; ++i) word |= std::uint32_t{bytes[i]} << (8 * i);
    return static_cast<std::int32_t>(word);
}

void ActivationParameters::load(std::span<const std::uint8_t> bytes, std::size_t columns) {
    const std::size_t array_bytes = columns * word_bytes;
    load_words(bytes, columns, bias);
    load_words(bytes.subspan(array_bytes), columns, multiplier);
    const auto shifts = bytes.subspan(2 * array_bytes, columns);
    std::fill(shift.begin(), shift.end(), std::int8_t{0});
    std::transform(shifts.begin(), shifts.end(), shift.begin(),
                   [](std::uint8_t byte) { return static_cast<std::int8_t>(byte); });
}

math::LookupTable table_of(std::span<const std::uint8_t> bytes) {
    math::LookupTable table{};
    const auto entries = bytes.first(table.size());
    std::copy(entries.begin(), entries.end(), table.begin());
    return table;
}

}  // namespace systole::functional
