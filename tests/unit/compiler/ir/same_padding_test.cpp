#include <catch2/catch.hpp>

#include "compiler/ir/window.h"

using systole::ir::Padding;
using systole::ir::same_padding;

TEST_CASE("Same padding is the least that gives ceil(input / stride) windows", "[compiler][ir]") {
    for (std::uint32_t input = 1; input <= 20; ++input) {
        for (std::uint32_t kernel = 1; kernel <= 9; ++kernel) {
            for (std::uint32_t stride = 1; stride <= 5; ++stride) {
                INFO("input " << input << ", kernel " << kernel << ", stride " << stride);
                const Padding padding = same_padding(input, kernel, stride);
                const std::uint32_t total = padding.before + padding.after;
                const std::uint32_t windows = (input + stride - 1) / stride;
                CHECK(input + total >= kernel);
                CHECK((input + total - kernel) / stride + 1 >= windows);
                if (total > 0) CHECK((windows - 1) * stride + kernel == input + total);
                CHECK((padding.after == padding.before || padding.after == padding.before + 1));
            }
        }
    }
}

TEST_CASE("Same padding of large numbers does not overflow", "[compiler][ir]") {
    constexpr std::uint32_t large = 0xffffffff;
    CHECK(same_padding(large, 3, 1).before == 1);
    CHECK(same_padding(large, 3, large).after == 0);
    CHECK(same_padding(1, large, large).before == (large - 1) / 2);
}
