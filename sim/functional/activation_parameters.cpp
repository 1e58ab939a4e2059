#include "sim/functional/activation_parameters.h"

#include <algorithm>
#include <bit>

namespace systole::functional {
namespace {

constexpr std::size_t word_bytes = 4;

/// The little-endian float64 that `bytes` begins with.
double little_endian_double(std::span<const std::uint8_t> bytes) {
    const auto half = [&](std::size_t first) {
        return static_cast<std::uint32_t>(little_endian_word(bytes.subspan(first)));
    };
    return std::bit_cast<double>(std::uint64_t{half(word_bytes)} << 32 | half(0));
}

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

void ActivationParameters::load(std::span<const std::uint8_t> bytes, std::size_t columns,
                                isa::Multipliers multipliers) {
    const std::size_t array_bytes = columns * word_bytes;
    load_words(bytes, columns, bias);
    if (isa::are_real(multipliers)) {
        std::fill(real_multiplier.begin(), real_multiplier.end(), 0.0);
        const auto reals = bytes.subspan(array_bytes);
        for (std::size_t c = 0; c < columns; ++c) {
            real_multiplier[c] = little_endian_double(reals.subspan(c * sizeof(double)));
        }
        return;
    }
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
