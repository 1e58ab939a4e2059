#include "tests/support/random_program/data.h"

#include <array>
#include <random>

namespace systole::tests {

std::vector<std::uint8_t> random_bytes(std::size_t count, std::size_t element_bytes, Choices& choices) {
    // The extremes of either sign, of 8 and of 16 bits, little endian.
    constexpr std::array<std::uint16_t, 6> extremes{0x0000, 0x8000, 0x7fff, 0xffff, 0x8080, 0x7f7f};
    // One choice stands for all the bytes: they are many, and none of them matters alone.
    std::mt19937 random(choices.number<std::uint32_t>(0, UINT32_MAX));
    const auto style = choices.from(0, 3);
    const std::uint16_t alike = extremes[random() % extremes.size()];
    std::vector<std::uint8_t> bytes(count);
    for (std::size_t i = 0; i < count; i += element_bytes) {
        std::uint32_t element = static_cast<std::uint32_t>(random());
        if (style == 0) element = alike;
        if (style == 1) element = extremes[element % extremes.size()];
        for (std::size_t b = 0; b < element_bytes && i + b < count; ++b) {
            bytes[i + b] = static_cast<std::uint8_t>(element >> (8 * (element_bytes == 1 ? 1 : b)));
        }
    }
    return bytes;
}

}  // namespace systole::tests
