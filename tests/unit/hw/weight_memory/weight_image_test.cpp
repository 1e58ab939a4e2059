#include "hw/weight_memory/weight_image.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>
#include <vector>

using systole::hw::WeightImage;

TEST_CASE("A region is found from its first byte to its last", "[hw][weight_memory]") {
    const std::vector<std::uint8_t> bytes{1, 2, 3};
    WeightImage image;
    image.refer_to(100, bytes);
    image.make(103, 5);
    CHECK(image.find(99) == nullptr);
    REQUIRE(image.find(100) != nullptr);
    CHECK(image.find(100)->bytes.data() == bytes.data());
    CHECK(image.find(102) == image.find(100));
    REQUIRE(image.find(103) != nullptr);
    CHECK(image.find(103)->address == 103);
    CHECK(image.find(107) == image.find(103));
    CHECK(image.find(108) == nullptr);
}

TEST_CASE("Bytes are read across regions, with zeros in between", "[hw][weight_memory]") {
    const std::vector<std::uint8_t> bytes{1, 2, 3};
    WeightImage image;
    image.refer_to(10, bytes);
    image.refer_to(16, {});
    std::ranges::fill(image.make(15, 2), std::uint8_t{9});
    std::vector<std::uint8_t> read(8, 0xFF);
    image.read(11, read);
    CHECK(read == std::vector<std::uint8_t>{2, 3, 0, 0, 9, 9, 0, 0});
    image.read(0, {read.data(), 4});
    CHECK(read == std::vector<std::uint8_t>{0, 0, 0, 0, 9, 9, 0, 0});
}

TEST_CASE("Regions of its own move with an image and begin zero", "[hw][weight_memory]") {
    WeightImage image;
    image.make(7, 3)[1] = 5;
    const WeightImage moved = std::move(image);
    std::vector<std::uint8_t> read(3, 0xFF);
    moved.read(7, read);
    CHECK(read == std::vector<std::uint8_t>{0, 5, 0});
}
