#include <catch2/catch.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/scale_images.h"

using namespace systole;

namespace {

/// Images whose channels come first in the file, and a dense layer that reads them as they lie there.
constexpr const char* channels_first = R"(graph "g"
inputs %0
outputs %4
%0 float32 1x2x4x4 "x"
%1 float32 1x4x4x2 "rows"
%2 float32 1x4x4x2 "relu"
%3 float32 32x1 "weights" = unknown
%4 float32 1x1 "scores"
%1 = transpose(%0) "rows" {axes [0, 2, 3, 1]}
%2 = relu(%1) "relu"
%4 = dense(%2, %3) "scores"
)";

ir::Graph read(const std::string& text) {
    return ir::parse_graph(text, "test", operators::registry());
}

/// The same with weights.
ir::Graph with_weights() {
    std::string text = channels_first;
    text.replace(text.find("unknown"), std::string("unknown").size(), "bytes " + std::string(32 * 8, '1'));
    return read(text);
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
        ir::Value& relu = large.values[large.nodes.front().output()];
        relu.shape = ir::Shape{1, 128};
        large.nodes.front().op = &operators::registry().at("reshape");
        large.nodes.front().attributes =
            ir::complete_attributes(*large.nodes.front().op, {{"shape", std::vector<std::int64_t>{1, 128}}});
        return large;
    });
    CHECK_THROWS_WITH(flat.run(graph),
                      "grow: a shape of \"g\" has changed: value %1 \"relu\" was 1x4x4x2 and is 1x128");

    passes::PassManager manager;
    manager.add_enlarging("grow", 2, enlarge(2));
    CHECK(manager.run(graph).input().shape == ir::Shape{1, 8, 8, 2});
    CHECK_THROWS_AS(manager.add("grow", enlarge(2)), std::logic_error);
}

}  // namespace
