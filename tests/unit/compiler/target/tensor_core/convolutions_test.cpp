#include <catch2/catch.hpp>
#include <cstdint>

#include "compiler/ir/model_error.h"
#include "compiler/target/tensor_core/network.h"
#include "tests/support/tensor_networks.h"
#include "tests/support/text_graphs.h"

using namespace systole;
using namespace systole::tests;

TEST_CASE("A convolution of millions of parts is refused at once", "[tensor_core]") {
    // Between the two pixels of an image are 2^24 - 1 zeros: so many windows meet its kernel in another way.
    const ir::Graph graph = graph_of_text(
        "graph \"g\"\ninputs %0, %1\noutputs %2\n%0 float32 1x1x2x1 \"images\"\n%1 float32 1x3x1x1 "
        "\"kernel\"\n"
        "%2 float32 1x1x16777215x1 \"sums\"\n"
        "%2 = word_convolution(%0, %1) \"c\" {kernel [1, 3], spread_x 16777216, sum_tile 16, precision "
        "\"default\"}\n");
    CHECK_THROWS_WITH(
        tensor_core::make_network(graph, core_of_16_lanes(1024), 1),
        Catch::Contains("make 16777215 parts of its result on a tensor core, each of windows that meet "
                        "other taps; at most 1048576 are possible"));
}
