#include "compiler/passes/ready_for_run.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/passes/scale_images.h"

using namespace systole;

namespace {

/// Images whose channels come first in the file.
constexpr const char* channels_first = R"(graph "g"
inputs %0
outputs %5
%0 float32 1x2x4x4 "x"
%1 float32 1x4x4x2 "rows"
%2 float32 1x1x2x2 "kernel" = KERNEL
%3 float32 1x4x4x2 "conv"
%4 float32 32x1 "weights" = WEIGHTS
%5 float32 1x1 "scores"
%1 = transpose(%0) "rows" {permutation [0, 2, 3, 1]}
%3 = convolution(%1, %2) "conv" {kernel [1, 1]}
%5 = dense(%3, %4) "scores"
)";

/// The network with weights.
ir::Graph with_weights() {
    std::string text = channels_first;
    const auto fill = [&](const std::string& place, std::size_t numbers) {
        text.replace(text.find(place), place.size(), "bytes " + std::string(numbers * 8, '1'));
    };
    fill("KERNEL", 4);
    fill("WEIGHTS", 32);
    return ir::parse_graph(text, "test", operators::registry());
}

TEST_CASE("A network is ready for a run with the axes of its program", "[compiler][passes]") {
    const ir::Graph graph = with_weights();
    REQUIRE(graph.has_weights);
    const ir::Graph ready = passes::ready_for_run(graph);
    CHECK(ready.nodes.size() == 2);
    CHECK(ready.has_weights);
    CHECK(ready.input().shape == ir::Shape{1, 4, 4, 2});
    CHECK(ready.input().file_axes == std::vector<std::uint32_t>{0, 3, 1, 2});
}

TEST_CASE("A timing-only run has no weights, and may have larger images", "[compiler][passes]") {
    const ir::Graph timed = passes::ready_for_run(with_weights(), {.timing_only = true});
    CHECK_FALSE(timed.has_weights);
    CHECK(timed.input().shape == ir::Shape{1, 4, 4, 2});

    const ir::Graph large = passes::ready_for_run(with_weights(), {.timing_only = true, .image_factor = 3});
    CHECK_FALSE(large.has_weights);
    CHECK(large.input().shape == ir::Shape{1, 12, 12, 2});
    CHECK(large.values[large.nodes.back().inputs[1]].shape == ir::Shape{12 * 12 * 2, 1});
    CHECK(large.output().shape == ir::Shape{1, 1});

    CHECK_THROWS_WITH(passes::ready_for_run(with_weights(), {.image_factor = 3}),
                      "images of a network with weights keep their size");
}

TEST_CASE("The pass manager knows which pass enlarges images, and by how much", "[compiler][passes]") {
    const ir::Graph graph = passes::ready_for_run(with_weights(), {.timing_only = true});
    const auto enlarge = [](std::uint32_t factor) {
        return [factor](ir::Graph small) { return passes::scale_images(std::move(small), factor); };
    };
    passes::PassManager silent;
    silent.add("grow", enlarge(2));
    CHECK_THROWS_WITH(silent.run(graph),
                      "grow: a shape of \"g\" has changed: input \"x\" had 32 elements and is 1x8x8x2");

    passes::PassManager other;
    other.add_enlarging("grow", 2, enlarge(3));
    CHECK_THROWS_WITH(other.run(graph),
                      "grow: a shape of \"g\" has changed: input \"x\" had 32 elements and is 1x12x12x2");

    // A value that lives on may grow, but not lose an axis.
    passes::PassManager flat;
    flat.add_enlarging("grow", 2, [&](ir::Graph small) {
        ir::Graph large = passes::scale_images(std::move(small), 2);
        ir::Node& node = large.nodes.front();
        large.values[node.output()].shape = ir::Shape{1, 128};
        node.op = &operators::registry().at("reshape");
        node.attributes = ir::complete_attributes(*node.op, {{"shape", std::vector<std::int64_t>{1, 128}}});
        node.inputs.resize(1);
        return large;
    });
    CHECK_THROWS_WITH(flat.run(graph),
                      "grow: a shape of \"g\" has changed: value %3 \"conv\" was 1x4x4x2 and is 1x128");

    passes::PassManager manager;
    manager.add_enlarging("grow", 2, enlarge(2));
    CHECK(manager.run(graph).input().shape == ir::Shape{1, 8, 8, 2});
    CHECK_THROWS_AS(manager.add("grow", enlarge(2)), std::logic_error);
}

}  // namespace
