// Passes on random networks of 1 to 6 axes: each keeps what the network computes, and every shape that others
// count on.
#include "tests/support/random_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/quantize.h"
#include "compiler/passes/ready_for_run.h"
#include "tests/support/file_order.h"
#include "tests/support/quantized_outputs.h"
#include "tests/support/random_runs.h"

using namespace systole;

namespace {

using tests::RandomTensors;
using tests::Tensors;

constexpr std::uint32_t inferences = 3;

Tensors inputs_for(const ir::Graph& graph, RandomTensors& random) {
    Tensors inputs;
    for (const ir::ValueId input : graph.inputs) {
        inputs.push_back(random.numbers(inferences * graph.values[input].shape.elements()));
    }
    return inputs;
}

/// The first output that is another one, or nothing. `allowed` is a part of the output's largest number.
std::string first_difference(const Tensors& expected, const Tensors& outputs, double allowed) {
    if (expected.size() != outputs.size()) return "another number of outputs";
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i].size() != outputs[i].size()) return fmt::format("output {} has another size", i);
        double largest = 1.0;
        for (const float number : expected[i]) largest = std::max(largest, std::abs(double{number}));
        for (std::size_t k = 0; k < expected[i].size(); ++k) {
            const double distance = std::abs(double{expected[i][k]} - double{outputs[i][k]});
            if (distance <= allowed * largest) continue;
            return fmt::format("output {}: element {} is {}; it was {}", i, k, outputs[i][k], expected[i][k]);
        }
    }
    return {};
}

}  // namespace

TEST_CASE("Each pass keeps the float outputs of random networks of 1 to 6 axes",
          "[compiler][passes][ranks]") {
    constexpr std::uint32_t first_seed = 35001;
    std::set<std::size_t> ranks;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(2000); ++seed) {
        RandomTensors random(seed);
        const ir::Graph graph = random.draw();
        const Tensors inputs = inputs_for(graph, random);
        INFO("seed " << seed << "\n" << ir::to_text(graph));
        for (const ir::Value& value : graph.values) ranks.insert(value.shape.rank());
        const Tensors expected = tests::run_in_file_order(graph, inputs, inferences);
        // Folded weights are rounded otherwise, and norms of lines enlarge the difference.
        constexpr double rounding = 2e-3;
        const auto check = [&](std::string_view pass, const ir::Graph& after) {
            const std::string difference =
                first_difference(expected, tests::run_in_file_order(after, inputs, inferences), rounding);
            INFO("after " << pass << "\n" << ir::to_text(after));
            REQUIRE(difference == "");
        };
        // As for a run, transpositions move once more.
        const ir::Graph moved = passes::ready_for_run(graph);
        check("ready_for_run", moved);
        REQUIRE_NOTHROW(passes::check_borders(moved, passes::simplify(moved, check)));
    }
    CHECK(ranks.size() == ir::Shape::most_extents + 1);
}

namespace {

/// Lengthens inputs by others, between transpositions as exporters write them: each is then a cache.
ir::Graph with_caches(ir::Graph graph, RandomTensors& random) {
    const auto append = [&](const char* op, std::vector<ir::NamedAttribute> attributes,
                            std::vector<ir::ValueId> inputs) {
        return graph.append(fmt::format("cache{}", graph.nodes.size()), operators::registry().at(op),
                            std::move(attributes), std::move(inputs));
    };
    const std::size_t inputs = graph.inputs.size();
    for (std::uint32_t i = 0; i < inputs; ++i) {
        const ir::ValueId input = graph.inputs[i];
        const std::size_t rank = graph.values[input].shape.rank();
        if (rank < 2) continue;
        std::vector<std::int64_t> axes(rank);
        std::iota(axes.begin(), axes.end(), 0);
        for (std::size_t axis = 1; axis < rank; ++axis) {
            const auto other = random.between(1, static_cast<std::uint32_t>(rank - 1));
            std::swap(axes[axis], axes[other]);
        }
        std::vector<std::int64_t> inverse(rank);
        for (std::size_t axis = 0; axis < rank; ++axis)
            inverse[static_cast<std::size_t>(axes[axis])] = static_cast<std::int64_t>(axis);
        const ir::ValueId moved = append("transpose", {{"permutation", axes}}, {input});
        const ir::Shape& shape = graph.values[moved].shape;
        std::vector<std::uint32_t> extents(shape.extents().begin(), shape.extents().end());
        const std::uint32_t axis = random.between(1, static_cast<std::uint32_t>(rank - 1));
        extents[axis] = random.between(1, 3);
        const ir::ValueId added =
            graph.add_input(fmt::format("new{}", i), ir::Shape(std::span<const std::uint32_t>(extents)));
        const ir::ValueId longer = append("concat", {{"axis", std::int64_t{axis}}}, {moved, added});
        const ir::ValueId back = append("transpose", {{"permutation", inverse}}, {longer});
        if (random.between(0, 1) == 0) graph.outputs.push_back(append("relu", {}, {longer}));
        graph.caches.push_back({.input = i, .output = static_cast<std::uint32_t>(graph.outputs.size())});
        graph.outputs.push_back(back);
    }
    return graph;
}

}  // namespace

TEST_CASE("Passes keep the order of axes of caches, and what random networks compute of them",
          "[compiler][passes][ranks]") {
    constexpr std::uint32_t first_seed = 38001;
    std::uint32_t caches = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(500); ++seed) {
        RandomTensors random(seed, RandomTensors::Operators::Smooth);
        const ir::Graph graph = with_caches(random.draw(), random);
        const Tensors inputs = inputs_for(graph, random);
        INFO("seed " << seed << "\n" << ir::to_text(graph));
        const Tensors expected = tests::run_in_file_order(graph, inputs, inferences);
        const auto check = [&](std::string_view pass, const ir::Graph& after) {
            INFO("after " << pass << "\n" << ir::to_text(after));
            REQUIRE(after.caches == graph.caches);
            REQUIRE(ir::find_fault(after).value_or("none") == "none");
            constexpr double rounding = 2e-3;
            REQUIRE(first_difference(expected, tests::run_in_file_order(after, inputs, inferences),
                                     rounding) == "");
        };
        REQUIRE(ir::find_fault(graph).value_or("none") == "none");
        const ir::Graph moved = passes::ready_for_run(graph);
        check("ready_for_run", moved);
        check("simplify", passes::simplify(moved, check));
        caches += static_cast<std::uint32_t>(graph.caches.size());
    }
    CHECK(caches >= tests::random_share(400));
}

TEST_CASE("Each pass keeps the integer outputs of random networks of 1 to 6 axes",
          "[compiler][passes][ranks]") {
    constexpr std::uint32_t first_seed = 36001;
    // The float32 of a `dequantize` at the end becomes a product in double; a step is far more.
    constexpr double rounding = 1e-6;
    std::uint32_t lookups = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(1000); ++seed) {
        RandomTensors random(seed, RandomTensors::Operators::Exact);
        const ir::Graph graph = random.draw();
        const Tensors inputs = inputs_for(graph, random);
        INFO("seed " << seed << "\n" << ir::to_text(graph));
        // Without the passes before it, so that integers are transposed and reshaped as in a file.
        ir::Graph quantized;
        try {
            quantized = passes::quantize(
                passes::calibrate(graph, tests::calibration_of(graph, inputs, inferences)), {});
        } catch (const ModelError&) {
            continue;  // a constant where the chip takes none
        }
        const Tensors expected = tests::real_outputs(quantized, inputs, inferences);
        lookups +=
            std::ranges::any_of(quantized.nodes, [](const ir::Node& node) { return node.is("lookup"); });
        passes::preparation({}).run(quantized, [&](std::string_view pass, const ir::Graph& after) {
            const std::string difference =
                first_difference(expected, tests::real_outputs(after, inputs, inferences), rounding);
            INFO("after " << pass << "\n" << ir::to_text(after));
            REQUIRE(difference == "");
        });
    }
    CHECK(lookups >= tests::random_share(300));
}

TEST_CASE("Quantized random networks of 1 to 6 axes compute about what they compute in float",
          "[compiler][passes][ranks]") {
    constexpr std::uint32_t first_seed = 37001;
    std::uint32_t compared = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(1000); ++seed) {
        RandomTensors random(seed, RandomTensors::Operators::Smooth);
        const ir::Graph graph = random.draw();
        const Tensors inputs = inputs_for(graph, random);
        INFO("seed " << seed << "\n" << ir::to_text(graph));
        ir::Graph quantized;
        try {
            quantized = tests::quantized(graph, inputs, inferences);
        } catch (const ModelError&) {
            continue;
        }
        ++compared;
        INFO(ir::to_text(quantized));
        const Tensors expected = tests::run_in_file_order(graph, inputs, inferences);
        const Tensors outputs = tests::real_outputs(quantized, inputs, inferences);
        REQUIRE(expected.size() == outputs.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            REQUIRE(expected[i].size() == outputs[i].size());
            CAPTURE(i);
            REQUIRE(tests::relative_error(expected[i], outputs[i]) < 0.1);
        }
    }
    CHECK(compared >= tests::random_share(700));
}

TEST_CASE("The pass manager refuses a pass that changes a shape", "[compiler][passes][ranks]") {
    constexpr const char* text = R"(graph "g"
inputs %0
outputs %2
%0 float32 1x4x8 "x"
%1 float32 1x4x8 "tanh"
%2 float32 1x32 "flat"
%1 = tanh(%0) "tanh"
%2 = reshape(%1) "flat" {shape [1, 32]}
)";
    const ir::Graph graph = ir::parse_graph(text, "text", operators::registry());
    /// Runs a pass that gives values another shape, as new values or as the ones that they were.
    const auto run = [&](const std::vector<ir::ValueId>& ids, const ir::Shape& shape, bool are_new) {
        passes::PassManager manager;
        manager.add("widen", [&](ir::Graph changed) {
            for (const ir::ValueId id : ids) {
                changed.values[id].shape = shape;
                if (are_new) changed.values[id].before.reset();
            }
            if (shape.rank() == 2) changed.nodes[1].set("shape", std::vector<std::int64_t>{4, 8});
            return changed;
        });
        return manager.run(graph);
    };
    const ir::Shape image{1, 1, 4, 8};
    CHECK(run({0, 1}, image, true).values[1].shape == image);
    CHECK_FALSE(run({0, 1}, image, true).values[1].before.has_value());
    CHECK_THROWS_WITH(run({0, 1}, image, false),
                      "widen: a shape of \"g\" has changed: value %0 \"x\" was 1x4x8 and is 1x1x4x8");
    // An output keeps its shape even if it is a new value.
    CHECK_THROWS_WITH(run({2}, {4, 8}, true),
                      "widen: a shape of \"g\" has changed: output \"flat\" was 1x32 and is 4x8");
}
