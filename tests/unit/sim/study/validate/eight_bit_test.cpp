#include <catch2/catch.hpp>

#include "sim/study/validate/simulate.h"

namespace systole::validate {
namespace {

TEST_CASE("All activations become 8-bit, and nothing else changes", "[sim][validate]") {
    const nlohmann::json network = {{"name", "wide"},
                                    {"activation_bits", 16},
                                    {"layers",
                                     {{{"name", "slice"}, {"op", "slice"}, {"count", 200}},
                                      {{"name", "dense"}, {"op", "dense"}, {"activation_bits", 16}}}}};
    const nlohmann::json narrow = with_8_bit_activations(network);
    CHECK(narrow["activation_bits"] == 8);
    CHECK(narrow["layers"][1]["activation_bits"] == 8);
    CHECK(narrow["layers"][0] == network["layers"][0]);
    CHECK(network["activation_bits"] == 16);
}

}  // namespace
}  // namespace systole::validate
