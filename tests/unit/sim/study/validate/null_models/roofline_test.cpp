#include "sim/study/validate/null_models/roofline.h"

#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "sim/study/validate/null_models/least_error.h"

namespace systole::null_models {
namespace {

/// An array of 4 x 4 cells at 1 kHz; a tile of 16 bytes takes 32 cycles.
const Chip small{
    .clock_hz = 1000.0, .array = 4, .weight_bytes_per_second = 500.0, .link_bytes_per_second = 250.0};

TEST_CASE("A layer takes whole tiles, and the longer of streaming and fetching them", "[sim][validate]") {
    // 5 x 6 weights: 2 x 2 tiles, fetched in 128 cycles.
    const Network network{.layers = {{.inputs = {5}, .columns = 6, .vectors = 3}}};
    SECTION("few vectors wait for the weights") {
        const Prediction made = roofline(network, 10, small);  // 30 vectors through 4 tiles
        CHECK(made.tiles == 4);
        CHECK(made.active == Approx(120.0));
        CHECK(made.total == Approx(128.0));
        CHECK(made.useful == Approx(30.0 * 5 * 6 / 16));
        CHECK(made.shift == Approx(8.0));  // all that is waited for: less than 4 cycles a tile
        CHECK(made.stall == Approx(0.0).margin(1e-12));
        CHECK(made.macs == Approx(30.0 * 5 * 6));
    }
    SECTION("fewer wait longer") {
        const Prediction made = roofline(network, 5, small);
        CHECK(made.active == Approx(60.0));
        CHECK(made.shift == Approx(16.0));  // 4 cycles of each of 4 tiles
        CHECK(made.stall == Approx(52.0));
        CHECK(made.total == Approx(128.0));
    }
    SECTION("many do not wait") {
        const Prediction made = roofline(network, 11, small);
        CHECK(made.total == Approx(132.0));
        CHECK(made.stall + made.shift == 0.0);
    }
}

TEST_CASE("Matrices side by side have tiles of their own, and 16 bits stream at half rate",
          "[sim][validate]") {
    Network network{.layers = {{.inputs = {5, 3}, .columns = 4, .vectors = 100, .bits = 16}}};
    const Prediction made = roofline(network, 1, small);
    CHECK(made.tiles == 3);  // 2 and 1; 8 rows of one matrix would have 2
    CHECK(made.active == Approx(600.0));
    CHECK(made.useful == Approx(200.0 * 8 * 4 / 16));
    CHECK(made.macs == Approx(100.0 * 8 * 4));
    CHECK(roofline(with_8_bits(network), 1, small).active == Approx(300.0));
    network.layers[0].inputs = {8};
    CHECK(roofline(network, 1, small).tiles == 2);
}

TEST_CASE("Layers add up, and bytes of the link stand beside them", "[sim][validate]") {
    const Layer streams{.inputs = {4}, .columns = 4, .vectors = 50};
    const Layer fetches{.inputs = {4}, .columns = 8, .vectors = 1};
    const Network network{.layers = {streams, fetches}, .input_bytes = 3, .output_bytes = 2};
    const Prediction made = roofline(network, 2, small);
    CHECK(made.total == Approx(100.0 + 64.0));  // not the longer of 104 and 96
    CHECK(made.transfer == Approx(2 * 5 / 250.0 * 1000.0));
}

/// Worked by hand from the tables of the article: 600 x 600 weights are 9 tiles of 64 KiB.
TEST_CASE("The article's 600 x 600 matrix takes 9 tiles and 17.3 us at 34 GB/s", "[sim][validate]") {
    Chip tpu{.clock_hz = 700e6, .array = 256, .weight_bytes_per_second = 34e9, .link_bytes_per_second = 10e9};
    const Network network{.layers = {{.inputs = {600}, .columns = 600}}};
    const Prediction made = roofline(network, 96, tpu);
    CHECK(made.tiles == 9);
    CHECK(made.total / tpu.clock_hz * 1e6 == Approx(9 * 65536 / 34e3));
    CHECK(made.active == Approx(9 * 96.0));
    tpu.array = 512;
    CHECK(roofline(network, 96, tpu).tiles == 4);
    CHECK(roofline(network, 96, tpu).total / tpu.clock_hz * 1e6 == Approx(4 * 262144 / 34e3));
}

TEST_CASE("A constant has the least mean absolute error", "[sim][validate]") {
    // Twice the prediction twice, three times once: the median.
    const std::array measured{200.0, 20.0, 30.0};
    const std::array predicted{100.0, 10.0, 10.0};
    CHECK(best_factor(measured, predicted) == Approx(2.0));
    const std::vector<double> errors{0.0, 0.0, -1.0 / 3.0};
    CHECK(mean_absolute(errors) == Approx(1.0 / 9.0));
    // 10 + 5 x 2 and 15 + 5 x 3 have no error, 10 + 5 x 4 is a fourth too little.
    const std::array others{20.0, 30.0, 40.0};
    const std::array start{10.0, 15.0, 10.0};
    const std::array times{2.0, 3.0, 4.0};
    CHECK(best_addend(others, start, times) == Approx(5.0));
}

}  // namespace
}  // namespace systole::null_models
