#include "hw/math/floats/word_values.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "hw/math/floats/float_values.h"

namespace systole::math {
namespace {

/// Calls convert(stored, word) for each element, whose C++ type is that of `zero`.
template <typename Element, typename Convert>
void each_to_word(const void* stored, std::span<std::uint32_t> words, const Convert& convert) {
    std::transform(static_cast<const Element*>(stored), static_cast<const Element*>(stored) + words.size(),
                   words.begin(), convert);
}
template <typename Element, typename Convert>
void each_from_word(std::span<const std::uint32_t> words, void* stored, const Convert& convert) {
    std::ranges::transform(words, static_cast<Element*>(stored),
                           [&](std::uint32_t word) { return static_cast<Element>(convert(word)); });
}

std::uint32_t sign_extended(std::int32_t number) {
    return static_cast<std::uint32_t>(number);
}

}  // namespace

void to_words(const void* stored, DataType type, std::span<std::uint32_t> words) {
    const auto same = [](std::uint32_t word) { return word; };
    switch (type) {
        case DataType::Uint8:
            return each_to_word<std::uint8_t>(stored, words, same);
        case DataType::Int8:
            return each_to_word<std::int8_t>(stored, words, sign_extended);
        case DataType::Int16:
            return each_to_word<std::int16_t>(stored, words, sign_extended);
        case DataType::Uint16:
            return each_to_word<std::uint16_t>(stored, words, same);
        case DataType::Int32:
        case DataType::Float32:
        case DataType::Uint32:
            return each_to_word<std::uint32_t>(stored, words, same);
        case DataType::Bfloat16:
            return each_to_word<std::uint16_t>(stored, words,
                                               [](std::uint16_t bits) { return std::uint32_t{bits} << 16U; });
        case DataType::Float16:
            return each_to_word<std::uint16_t>(stored, words, [](std::uint16_t bits) {
                return std::bit_cast<std::uint32_t>(float_of_float16(bits));
            });
        case DataType::Bool:
            return each_to_word<std::uint8_t>(stored, words,
                                              [](std::uint8_t truth) { return truth == 0 ? 0U : 1U; });
    }
}

void from_words(std::span<const std::uint32_t> words, DataType type, void* stored) {
    const auto same = [](std::uint32_t word) { return word; };
    switch (type) {
        case DataType::Uint8:
        case DataType::Int8:
            return each_from_word<std::uint8_t>(words, stored, same);
        case DataType::Int16:
        case DataType::Uint16:
            return each_from_word<std::uint16_t>(words, stored, same);
        case DataType::Int32:
        case DataType::Float32:
        case DataType::Uint32:
            return each_from_word<std::uint32_t>(words, stored, same);
        case DataType::Bfloat16:
            return each_from_word<std::uint16_t>(
                words, stored, [](std::uint32_t word) { return bfloat16_bits(std::bit_cast<float>(word)); });
        case DataType::Float16:
            return each_from_word<std::uint16_t>(
                words, stored, [](std::uint32_t word) { return float16_bits(std::bit_cast<float>(word)); });
        case DataType::Bool:
            return each_from_word<std::uint8_t>(words, stored, [](std::uint32_t word) { return word != 0; });
    }
}

}  // namespace systole::math
