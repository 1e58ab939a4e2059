#include "compiler/passes/prepare.h"

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "base/random_values.h"
#include "base/rounding.h"
#include "compiler/frontend/door/read_network.h"
#include "compiler/passes/set_rounding.h"
#include "tests/support/random_graph_file.h"
#include "tests/support/random_runs.h"

using namespace systole;

TEST_CASE("A network on integers knows the values in float that it stores", "[compiler][passes]") {
    for (std::uint32_t seed = 0, runs = tests::random_runs(40); seed < runs; ++seed) {
        CAPTURE(seed);
        const ir::Graph graph = frontend::build_json_graph(tests::RandomGraphFile(seed).draw().dump(),
                                                           frontend::WeightValues::Read);
        std::vector<float> inputs(graph.input().shape.elements());
        fill_random(inputs, 1.0F, seed);
        const passes::Calibration calibration{.inputs = inputs, .count = 1, .encoding = std::nullopt};
        const auto [real, stored, real_of] = passes::prepare_beside_float(graph, calibration);
        CHECK(stored == passes::prepare(graph, calibration));
        // A machine's rounding comes last.
        const ir::Graph rounded = passes::set_rounding(stored, Rounding::FloatHalfEven);
        CHECK(passes::prepare(graph, calibration, {}, Rounding::FloatHalfEven) == rounded);
        const auto beside = passes::prepare_beside_float(graph, calibration, Rounding::FloatHalfEven);
        CHECK(beside.stored == rounded);
        CHECK(beside.real_of == real_of);
        CHECK_FALSE(ir::is_quantized(real));
        REQUIRE(real_of.size() == stored.values.size());
        for (ir::ValueId id = 0; id < stored.values.size(); ++id) {
            const ir::Value& value = stored.values[id];
            CHECK(real_of[id].has_value() == !value.constant.has_value());
            if (!real_of[id]) continue;
            CHECK(real.values.at(*real_of[id]).shape == value.shape);
            CHECK(real.values[*real_of[id]].range.has_value());
        }
        // Inputs and outputs are those of the network in float.
        CHECK(real_of[stored.inputs[0]] == real.inputs[0]);
        CHECK(real_of[stored.outputs[0]] == real.outputs[0]);
    }
}
