#include <catch2/catch.hpp>
#include <numeric>

#include "sim/run/images.h"

using namespace systole;

namespace {

constexpr std::uint32_t side = 2;

/// Gray images of four pixels; pixel p of image i is 4 i + p.
input::Images gray(std::uint32_t count) {
    std::vector<std::uint8_t> pixels(std::size_t{count} * side * side);
    std::iota(pixels.begin(), pixels.end(), std::uint8_t{0});
    return {.count = count, .height = side, .width = side, .channels = 1, .values = std::move(pixels)};
}

/// Answers of two classes.
run::Outputs answers(const std::vector<std::uint32_t>& predictions) {
    run::Outputs outputs{.per_inference = 2, .values = {}, .predictions = predictions};
    for (const std::uint32_t prediction : predictions) {
        outputs.values.push_back(prediction == 0 ? 0.75F : 0.25F);
        outputs.values.push_back(prediction == 1 ? 0.75F : 0.25F);
    }
    return outputs;
}

}  // namespace

TEST_CASE("Wrong pictures come first, each kind in the order of the input", "[pictures]") {
    const std::vector<std::uint32_t> labels{0, 0, 1, 0, 1};
    const auto chosen = run::choose_pictures(gray(5), answers({0, 1, 1, 0, 0}), labels, true);
    std::vector<std::uint64_t> order;
    for (const run::Picture& picture : chosen.pictures) order.push_back(picture.index);
    CHECK(order == std::vector<std::uint64_t>{1, 4, 0, 2, 3});
    CHECK(chosen.left_out == 0);
    CHECK(chosen.pictures[1].prediction == 0);
    CHECK(chosen.pictures[1].label == 1U);
    CHECK(chosen.pictures[1].probability == 0.75F);
    CHECK(chosen.pictures[1].pixels == std::vector<std::uint8_t>{16, 17, 18, 19});
}

TEST_CASE("Without labels pictures are in order, without a softmax they have no probability", "[pictures]") {
    const auto chosen = run::choose_pictures(gray(3), answers({0, 1, 1}), {}, false);
    REQUIRE(chosen.pictures.size() == 3);
    CHECK(chosen.pictures[0].index == 0);
    CHECK_FALSE(chosen.pictures[0].label);
    CHECK_FALSE(chosen.pictures[0].probability);
}

TEST_CASE("Pictures that do not fit on the page are counted", "[pictures]") {
    const auto many = run::choose_pictures(gray(500), answers(std::vector<std::uint32_t>(500, 0)), {}, false);
    CHECK(many.pictures.size() == 120);
    CHECK(many.left_out == 380);

    constexpr std::uint32_t large = 1024;
    const input::Images images{.count = 2,
                               .height = large,
                               .width = large,
                               .channels = 1,
                               .values = std::vector<std::uint8_t>(std::size_t{2} * large * large)};
    const auto few = run::choose_pictures(images, answers({0, 0}), {}, false);
    CHECK(few.pictures.size() == 1);  // a MiB in all
    CHECK(few.left_out == 1);
}

TEST_CASE("Images that are not pictures are not shown", "[pictures]") {
    input::Images vectors = gray(4);
    vectors.height = 1;
    vectors.width = 1;
    vectors.channels = 4;
    const auto none = run::choose_pictures(vectors, answers({0, 0, 0, 0}), {}, false);
    CHECK(none.pictures.empty());
    CHECK(none.left_out == 4);
    run::Outputs no_classes = answers({});
    CHECK(run::choose_pictures(gray(2), no_classes, {}, false).pictures.empty());
}

TEST_CASE("Floating-point pictures are stretched from their smallest to their largest value", "[pictures]") {
    const input::Images images{.count = 2,
                               .height = side,
                               .width = side,
                               .channels = 1,
                               .values = std::vector<float>{-1, 0, 1, 3, 7, 7, 7, 7}};
    const auto chosen = run::choose_pictures(images, answers({0, 1}), {}, false);
    REQUIRE(chosen.pictures.size() == 2);
    CHECK(chosen.pictures[0].pixels == std::vector<std::uint8_t>{0, 64, 128, 255});
    CHECK(chosen.pictures[1].pixels == std::vector<std::uint8_t>{0, 0, 0, 0});
}
