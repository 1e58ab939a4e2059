#include "compiler/graph/shape_text.h"

#include <fmt/format.h>

namespace systole::graph {

std::string to_text(const Shape& shape) {
    return fmt::format("{}x{}x{}", shape.height, shape.width, shape.channels);
}

std::string to_text(const Window& window) {
    return fmt::format("kernel {}x{}, stride {}x{}, padding {},{},{},{}", window.kernel_height,
                       window.kernel_width, window.stride_y, window.stride_x, window.pad_top, window.pad_left,
                       window.pad_bottom, window.pad_right);
}

std::string quoted(std::string_view name) {
    constexpr std::size_t longest = 80;
    constexpr unsigned char first_printable = 0x20;
    constexpr unsigned char del = 0x7f;
    std::string text = "\"";
    for (const char c : name.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < first_printable || byte == del) {
            text += fmt::format("\\x{:02x}", byte);
        } else {
            text += c;
        }
    }
    return text + (name.size() > longest ? "...\"" : "\"");
}

std::optional<std::uint64_t> checked_product(std::initializer_list<std::uint64_t> factors) {
    std::uint64_t product = 1;
    for (const std::uint64_t factor : factors) {
        if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
    }
    return product;
}

std::optional<std::uint64_t> checked_elements(const Shape& shape) {
    return checked_product({shape.height, shape.width, shape.channels});
}

}  // namespace systole::graph
