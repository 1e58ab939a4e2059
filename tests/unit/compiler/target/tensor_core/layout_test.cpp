// The published tiled layouts of Cloud TPUs: openxla/xla, docs/tiled_layout.md, and jax-ml/scaling-book.
#include "compiler/target/tensor_core/layout.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

using namespace systole::tensor_core;

namespace {

std::uint64_t bytes_of_extents(const std::vector<std::uint64_t>& extents, Element element = Element::Word) {
    return padded(extents, element).bytes;
}

}  // namespace

TEST_CASE("An element of a tiled matrix has its published place", "[tensor_core][layout]") {
    const std::array<Sides, 1> small{{{2, 2}}};
    // The example of the specification: element (2, 3) of F32[3,5] in tiles of 2 x 2.
    CHECK(index_in_tiles({2, 3}, {3, 5}, small) == 17);
    CHECK(index_in_tiles({0, 0}, {3, 5}, small) == 0);
    CHECK(index_in_tiles({1, 4}, {3, 5}, small) == 2 * 4 + 2);
    // Without tiles, rows follow each other.
    CHECK(index_in_tiles({2, 3}, {3, 5}, {}) == 13);
}

TEST_CASE("Two rows of 16 bits share each word", "[tensor_core][layout]") {
    const std::array<Sides, 2> tiles{{{8, 128}, {2, 1}}};
    for (std::uint64_t column = 0; column < 128; column += 31) {
        CHECK(index_in_tiles({0, column}, {16, 256}, tiles) == 2 * column);
        CHECK(index_in_tiles({1, column}, {16, 256}, tiles) == 2 * column + 1);
        CHECK(index_in_tiles({2, column}, {16, 256}, tiles) == 256 + 2 * column);
        CHECK(index_in_tiles({9, 128 + column}, {16, 256}, tiles) == 3 * 1024 + 2 * column + 1);
    }
}

TEST_CASE("Matrices are padded to whole tiles, those of few rows to smaller ones", "[tensor_core][layout]") {
    CHECK(bytes_of_extents({8, 128}) == 4096);
    CHECK(bytes_of_extents({9, 129}) == 4 * 4096);
    CHECK(bytes_of_extents({5, 1}) == 4096);
    CHECK(bytes_of_extents({4, 1}) == 2048);
    CHECK(bytes_of_extents({3, 128}) == 2048);
    CHECK(bytes_of_extents({2, 128}) == 1024);
    CHECK(bytes_of_extents({1, 1000}) == 8 * 1024);
    CHECK(bytes_of_extents({100}) == 1024);
    CHECK(bytes_of_extents({64, 28, 28, 1}) == std::uint64_t{64} * 28 * 32 * 512);
    // The lanes are full if 64 images are the last axis.
    CHECK(bytes_of_extents({28, 28, 1, 64}) == std::uint64_t{28} * 28 * 2 * 512);
    CHECK(bytes_of_extents({16, 256}, Element::Bfloat16) == 16 * 256 * 2);
    CHECK(bytes_of_extents({16, 256}, Element::Truth) == 16 * 256 * 4);
}
