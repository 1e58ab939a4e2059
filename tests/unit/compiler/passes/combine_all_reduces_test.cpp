// All-reduces that are ready together become one; the sums are those of each alone.
#include "compiler/passes/combine_all_reduces.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/passes/prepare.h"
#include "tests/support/random_runs.h"
#include "tests/support/text_graphs.h"

using namespace systole;

namespace {

using Numbers = std::vector<float>;

std::string combined(const std::string& text) {
    return ir::to_text(passes::combine_all_reduces(tests::graph_of_text(text)));
}

std::string error_of(const auto& run) {
    try {
        run();
    } catch (const ModelError& error) {
        return error.what();
    }
    return "none";
}

std::vector<Numbers> outputs_of(const ir::Graph& graph, const Numbers& input, std::uint32_t batch) {
    const std::span<const float> given(input);
    return reference::execute(graph, std::span(&given, 1), batch);
}

}  // namespace

TEST_CASE("All-reduces wait for the last one that needs none of them", "[compiler][passes]") {
    // `b` needs nothing of `a`; `c` needs both; `d` sums another number of parts.
    const std::string text = R"(graph "g"
inputs %0
outputs %6, %7, %8
%0 float32 1x4 "x"
%1 float32 1x4 "a"
%2 float32 1x4 "early"
%3 float32 1x4 "late"
%4 float32 1x4 "b"
%5 float32 1x4 "sum"
%6 float32 1x4 "c"
%7 float32 1x4 "d"
%8 float32 1x4 "e"
%1 = all_reduce(%0) "a" {parts 2}
%2 = word_chain(%1) "early" {steps ["negate 0"]}
%3 = word_chain(%0) "late" {steps ["tanh 0"]}
%4 = all_reduce(%3) "b" {parts 2}
%5 = word_chain(%2, %4) "sum" {steps ["add 0 1"]}
%6 = all_reduce(%5) "c" {parts 2}
%7 = all_reduce(%0) "d" {parts 1}
%8 = all_reduce(%4) "e" {parts 2}
)";
    CHECK(combined(text) == R"(graph "g"
inputs %0
outputs %6, %7, %8
%0 float32 1x4 "x"
%1 float32 1x4 "a"
%2 float32 1x4 "early"
%3 float32 1x4 "late"
%4 float32 1x4 "b"
%5 float32 1x4 "sum"
%6 float32 1x4 "c"
%7 float32 1x4 "d"
%8 float32 1x4 "e"
%3 = word_chain(%0) "late" {steps ["tanh 0"]}
%1, %4 = all_reduce(%0, %3) "a" {parts 2}
%2 = word_chain(%1) "early" {steps ["negate 0"]}
%5 = word_chain(%2, %4) "sum" {steps ["add 0 1"]}
%7 = all_reduce(%0) "d" {parts 1}
%6, %8 = all_reduce(%5, %4) "c" {parts 2}
)");
}

TEST_CASE("An all-reduce alone stays where it is", "[compiler][passes]") {
    const std::string text = R"(graph "g"
inputs %0
outputs %3
%0 float32 1x4 "x"
%1 float32 1x4 "a"
%2 float32 1x4 "other"
%3 float32 1x4 "sum"
%1 = all_reduce(%0) "a" {parts 2}
%2 = word_chain(%0) "other" {steps ["tanh 0"]}
%3 = word_chain(%1, %2) "sum" {steps ["add 0 1"]}
)";
    CHECK(combined(text) == text);
}

TEST_CASE("An all-reduce adds the parts of a batch in their order", "[compiler][operators]") {
    const ir::Graph graph = tests::graph_of_text(R"(graph "g"
inputs %0
outputs %1
%0 float32 1x1 "x"
%1 float32 1x1 "a"
%1 = all_reduce(%0) "a" {parts 4}
)");
    // Two images a part: 1e8 takes both ones of the first with it, and neither of the second.
    const Numbers input{1, 1, 1e8F, 2, 1, 3, -1e8F, 4};
    CHECK(outputs_of(graph, input, 8) == std::vector<Numbers>{{0, 10, 0, 10, 0, 10, 0, 10}});
    CHECK(error_of([&] { static_cast<void>(outputs_of(graph, Numbers(6), 6)); }) ==
          "layer \"a\": it sums 4 parts of a batch of 6, which must be a multiple");
    const std::string refused =
        "layer \"a\": all_reduce sums over the cores of a machine; only machines with tensor cores do so";
    CHECK(error_of([&] { static_cast<void>(passes::prepare(graph, {})); }) == refused);
    CHECK(error_of([&] { static_cast<void>(passes::simplify(graph)); }) == refused);
    CHECK(error_of([&] { static_cast<void>(passes::prepare_beside_float(graph, {})); }) == refused);
}

TEST_CASE("Random networks give the same numbers with their all-reduces combined", "[compiler][passes]") {
    std::uint32_t combined_graphs = 0;
    for (std::uint32_t seed = 1; seed <= tests::random_runs(200); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        ir::Graph graph;
        graph.name = "random";
        std::vector<ir::ValueId> values{graph.add_input("x", {1, 3}, DataType::Float32)};
        const auto any = [&] { return values[random() % values.size()]; };
        const auto append = [&](const char* op, std::vector<ir::NamedAttribute> attributes,
                                std::vector<ir::ValueId> inputs) {
            values.push_back(graph.append(op + std::to_string(graph.nodes.size()),
                                          operators::registry().at(op), std::move(attributes),
                                          std::move(inputs), DataType::Float32));
        };
        for (std::size_t nodes = 2 + random() % 12; nodes > 0; --nodes) {
            switch (random() % 3) {
                case 0:
                    append("word_chain", {{"steps", std::vector<std::string>{"tanh 0"}}}, {any()});
                    break;
                case 1:
                    append("word_chain", {{"steps", std::vector<std::string>{"add 0 1"}}}, {any(), any()});
                    break;
                default:
                    append("all_reduce", {{"parts", std::int64_t{1} << (random() % 3)}}, {any()});
            }
        }
        graph.outputs = {values.end() - 2, values.end()};
        ir::remove_unread(graph);
        passes::PassManager pass;  // verifies
        pass.add("combine_all_reduces", passes::combine_all_reduces);
        const ir::Graph made = pass.run(graph);
        combined_graphs += made.nodes.size() < graph.nodes.size() ? 1 : 0;
        Numbers input(8 * 3);
        for (float& number : input) number = std::uniform_real_distribution<float>(-2.0F, 2.0F)(random);
        CHECK(outputs_of(made, input, 8) == outputs_of(graph, input, 8));
    }
    CHECK(combined_graphs >= tests::random_share(20));
}
