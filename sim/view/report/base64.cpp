#include <algorithm>
#include <string_view>

#include "base/arithmetic.h"
#include "sim/view/report/json_values.h"

namespace systole::report {

std::string to_base64(std::span<const std::uint8_t> bytes) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::size_t group = 3;  // bytes that become four letters of 6 bits
    std::string text;
    text.reserve(divide_up(bytes.size(), group) * 4);
    for (std::size_t first = 0; first < bytes.size(); first += group) {
        const std::size_t count = std::min(group, bytes.size() - first);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < group; ++i) bits = bits << 8U | (i < count ? bytes[first + i] : 0U);
        for (std::size_t i = 0; i < 4; ++i) {
            const std::uint32_t letter = bits >> (18U - 6U * i) & 63U;
            text += i <= count ? letters[letter] : '=';
        }
    }
    return text;
}

}  // namespace systole::report
