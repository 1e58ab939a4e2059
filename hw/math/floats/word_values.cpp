#include "hw/math/floats/word_values.h"

#include <bit>
#include <cstddef>
#include <cstring>

#include "hw/math/floats/float_values.h"

namespace systole::math {
namespace {

/// Makes a word of each element, which are numbers of type Element at any address.
template <typename Element, typename Convert>
void each_to_word(const void* stored, std::span<std::uint32_t> words, const Convert& convert) {
    const auto* bytes = static_cast<const std::byte*>(stored);
    for (std::size_t i = 0; i < words.size(); ++i) {
        Element element = 0;
        std::memcpy(&element, bytes + i * sizeof element, sizeof element);
        words[i] = convert(element);
    }
}
template <typename Element, typename Convert>
void each_from_word(std::span<const std::uint32_t> words, void* stored, const Convert& convert) {
    auto* bytes = static_cast<std::byte*>(stored);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto element = static_cast<Element>(convert(words[i]));
        std::memcpy(bytes + i * sizeof element, &element, sizeof element);
    }
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
