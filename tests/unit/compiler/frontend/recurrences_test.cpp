// LSTM, GRU and RNN of ONNX against their equations, and how Keras' layers become nodes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/reference/executor.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/keras_graph.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using nlohmann::json;
using tests::OnnxModel;

namespace {

using Reals = std::vector<double>;

/// A node in one direction with weights of all gates, in the order of the file.
struct DrawnRecurrence {
    std::string op;
    std::size_t gates = 1;
    std::size_t steps = 1;
    std::size_t batch = 1;
    std::size_t inputs = 1;
    std::size_t hidden = 1;
    bool is_reverse = false;
    bool resets_product = false;
    bool has_peepholes = false;
    std::vector<float> x = {};
    std::vector<float> w = {};
    std::vector<float> r = {};
    std::vector<float> b = {};
    std::vector<float> h = {};
    std::vector<float> c = {};
    std::vector<float> p = {};

    /// x W, or h R, for a unit of a gate.
    double of_input(std::size_t gate, std::size_t unit, std::size_t step, std::size_t image) const {
        double sum = b[gate * hidden + unit];
        for (std::size_t i = 0; i < inputs; ++i)
            sum += double{x[(step * batch + image) * inputs + i]} * w[(gate * hidden + unit) * inputs + i];
        return sum;
    }
    double of_state(std::size_t gate, std::size_t unit, const Reals& state) const {
        double sum = b[(gates + gate) * hidden + unit];
        for (std::size_t i = 0; i < hidden; ++i)
            sum += state[i] * double{r[(gate * hidden + unit) * hidden + i]};
        return sum;
    }
};

double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

/// The state of an image after a step, by the equations of ONNX's page of the operator.
void make_step(const DrawnRecurrence& node, std::size_t step, std::size_t image, Reals& h, Reals& c) {
    const Reals before = h;
    const Reals memory = c;
    const auto sum = [&](std::size_t gate, std::size_t unit) {
        return node.of_input(gate, unit, step, image) + node.of_state(gate, unit, before);
    };
    for (std::size_t unit = 0; unit < node.hidden; ++unit) {
        if (node.op == "RNN") {
            h[unit] = std::tanh(sum(0, unit));
        } else if (node.op == "GRU") {
            const double update = sigmoid(sum(0, unit));
            double product = 0.0;
            if (node.resets_product) {
                product = sigmoid(sum(1, unit)) * node.of_state(2, unit, before);
            } else {
                Reals reset = before;
                for (std::size_t i = 0; i < node.hidden; ++i) reset[i] *= sigmoid(sum(1, i));
                product = node.of_state(2, unit, reset);
            }
            const double candidate = std::tanh(node.of_input(2, unit, step, image) + product);
            h[unit] = (1 - update) * candidate + update * before[unit];
        } else {
            const auto peephole = [&](std::size_t place, double of) {
                return node.has_peepholes ? of * node.p[place * node.hidden + unit] : 0.0;
            };
            const double input = sigmoid(sum(0, unit) + peephole(0, memory[unit]));
            const double forget = sigmoid(sum(2, unit) + peephole(2, memory[unit]));
            c[unit] = forget * memory[unit] + input * std::tanh(sum(3, unit));
            h[unit] = sigmoid(sum(1, unit) + peephole(1, c[unit])) * std::tanh(c[unit]);
        }
    }
}

/// Y as [step][batch][hidden].
Reals expected_steps(const DrawnRecurrence& node) {
    Reals all(node.steps * node.batch * node.hidden);
    for (std::size_t image = 0; image < node.batch; ++image) {
        const auto first = static_cast<std::ptrdiff_t>(image * node.hidden);
        const auto last = first + static_cast<std::ptrdiff_t>(node.hidden);
        Reals h(node.h.begin() + first, node.h.begin() + last);
        Reals c(node.c.begin() + first, node.c.begin() + last);
        for (std::size_t made = 0; made < node.steps; ++made) {
            const std::size_t step = node.is_reverse ? node.steps - 1 - made : made;
            make_step(node, step, image, h, c);
            std::ranges::copy(
                h, all.begin() + static_cast<std::ptrdiff_t>((step * node.batch + image) * node.hidden));
        }
    }
    return all;
}

DrawnRecurrence drawn_recurrence(std::mt19937& random) {
    const auto number = [&](std::size_t least, std::size_t most) {
        return std::uniform_int_distribution<std::size_t>(least, most)(random);
    };
    constexpr std::array<std::pair<const char*, std::size_t>, 3> kinds{{{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}}};
    const auto& [op, gates] = kinds.at(number(0, 2));
    DrawnRecurrence node{.op = op,
                         .gates = gates,
                         .steps = number(1, 5),
                         .batch = number(1, 2),
                         .inputs = number(1, 5),
                         .hidden = number(1, 5),
                         .is_reverse = number(0, 1) == 1,
                         .resets_product = number(0, 1) == 1,
                         .has_peepholes = number(0, 2) == 0};
    const auto draw = [&](std::vector<float>& numbers, std::size_t count, bool is_zero = false) {
        std::uniform_real_distribution<float> real(-1, 1);
        for (numbers.resize(count); float& each : numbers) each = is_zero ? 0.0F : real(random);
    };
    draw(node.x, node.steps * node.batch * node.inputs);
    draw(node.w, gates * node.hidden * node.inputs);
    draw(node.r, gates * node.hidden * node.hidden);
    draw(node.b, 2 * gates * node.hidden, number(0, 3) == 0);
    const bool begins_with_zeros = number(0, 1) == 0;
    draw(node.h, node.batch * node.hidden, begins_with_zeros);
    draw(node.c, node.batch * node.hidden, begins_with_zeros);
    draw(node.p, 3 * node.hidden);
    return node;
}

/// The network of a node; its memory begins with c, where it has one.
OnnxModel model_of(const DrawnRecurrence& node) {
    const auto extent = [](std::size_t value) { return static_cast<std::int64_t>(value); };
    OnnxModel model(14);
    model.input("x", {extent(node.steps), extent(node.batch), extent(node.inputs)});
    model.floats("w", {1, extent(node.gates * node.hidden), extent(node.inputs)}, node.w);
    model.floats("r", {1, extent(node.gates * node.hidden), extent(node.hidden)}, node.r);
    model.floats("b", {1, extent(2 * node.gates * node.hidden)}, node.b);
    model.floats("h", {1, extent(node.batch), extent(node.hidden)}, node.h);
    std::vector<std::string> inputs{"x", "w", "r", "b", "", "h"};
    if (node.op == "LSTM") {
        model.floats("c", {1, extent(node.batch), extent(node.hidden)}, node.c);
        inputs.emplace_back("c");
        if (node.has_peepholes) {
            model.floats("p", {1, extent(3 * node.hidden)}, node.p);
            inputs.emplace_back("p");
        }
    }
    ::onnx::NodeProto& made = model.node(node.op, inputs, {"y"});
    tests::with_attribute(made, "hidden_size", extent(node.hidden));
    if (node.is_reverse) tests::with_attribute(made, "direction", "reverse");
    if (node.op == "GRU" && node.resets_product)
        tests::with_attribute(made, "linear_before_reset", std::int64_t{1});
    model.output("y");
    return model;
}

}  // namespace

TEST_CASE("Recurrent nodes of ONNX follow their equations", "[compiler][frontend]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(150); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const DrawnRecurrence node = drawn_recurrence(random);
        CAPTURE(node.op, node.steps, node.batch);
        const ir::Graph graph = model_of(node).read();
        const std::vector<float> results = reference::execute(graph, node.x, 1);
        const Reals expected = expected_steps(node);
        REQUIRE(results.size() == expected.size());
        for (std::size_t i = 0; i < results.size(); ++i)
            REQUIRE(results[i] == Approx(expected[i]).margin(1e-5).epsilon(1e-5));
    }
}

TEST_CASE("All steps of a recurrent layer have one product of the input, and the same weights",
          "[compiler][frontend]") {
    const ir::Graph graph = tests::sequential(
        {nullptr, 5, 2}, {tests::layer("SimpleRNN", "r", {{"units", 3}, {"activation", "tanh"}})});
    const auto of_inputs = [](const ir::Node& node) { return node.is("convolution"); };
    CHECK(std::ranges::count_if(graph.nodes, of_inputs) == 1);
    std::vector<ir::ValueId> weights;
    for (const ir::Node& node : graph.nodes) {
        if (node.is("dense")) weights.push_back(node.inputs.at(1));
    }
    // The first state is zero.
    CHECK(weights == std::vector<ir::ValueId>(4, weights.at(0)));
}

TEST_CASE("Each part of a step has one name in all steps, and the graph lists it", "[compiler][frontend]") {
    const json inner = tests::layer(
        "LSTM", "l", {{"units", 3}, {"activation", "tanh"}, {"recurrent_activation", "sigmoid"}});
    const auto graph_of = [&](std::uint32_t steps) {
        return tests::sequential({nullptr, steps, 2},
                                 {tests::layer("Bidirectional", "b", {{"layer", inner}})});
    };
    const ir::Graph graph = graph_of(5);
    CHECK(graph.repeated == graph_of(4).repeated);
    const auto parts = ir::repeated_nodes(graph);
    REQUIRE(parts.size() == graph.repeated.size());
    std::map<std::string, std::size_t> dense;
    for (const std::vector<ir::NodeId>& part : parts) {
        for (const ir::NodeId id : part) {
            if (graph.nodes[id].is("dense")) ++dense[graph.nodes[id].name];
        }
    }
    // The first state is zero.
    std::map<std::string, std::size_t> expected;
    for (const char* const direction : {"forward", "backward"}) {
        for (const char* const gate : {"input_gate", "forget_gate", "output_gate", "candidate"})
            expected[fmt::format("b/{}/{}/state", direction, gate)] = 4;
    }
    CHECK(dense == expected);
}

TEST_CASE("Recurrent nodes with one name in a file have parts of different names", "[compiler][frontend]") {
    const DrawnRecurrence plain{.op = "RNN", .steps = 3, .w = {1}, .r = {1}, .b = {0, 0}, .h = {0}};
    OnnxModel model = model_of(plain);
    ::onnx::NodeProto& second = model.node("RNN", {"x", "w", "r"}, {"z"});
    tests::with_attribute(second, "hidden_size", std::int64_t{1});
    second.set_name(model.graph().node(0).name());
    model.output("z");
    const ir::Graph graph = model.read();
    CHECK(graph.repeated == std::vector<std::string>{"n_y/state/step", "n_y/state", "n_y/state/state",
                                                     "n_y/state/sum", "n_y/sequence", "n_y#2/state/step",
                                                     "n_y#2/state", "n_y#2/state/state", "n_y#2/state/sum",
                                                     "n_y#2/sequence"});
}

TEST_CASE("A recurrent node that is not computed is refused", "[compiler][frontend]") {
    const DrawnRecurrence plain{.op = "LSTM",
                                .gates = 4,
                                .steps = 2,
                                .x = {1, 1},
                                .w = {1, 1, 1, 1},
                                .r = {1, 1, 1, 1},
                                .b = {0, 0, 0, 0, 0, 0, 0, 0},
                                .h = {0},
                                .c = {0},
                                .p = {0, 0, 0}};
    const auto refusal = [&](const std::function<void(OnnxModel&, ::onnx::NodeProto&)>& change) {
        OnnxModel model = model_of(plain);
        change(model, *model.graph().mutable_node(0));
        return tests::refusal_of(model);
    };
    CHECK(refusal([](OnnxModel&, ::onnx::NodeProto& node) {
              tests::with_attribute(node, "direction", "sideways");
          }) ==
          "node \"n_y\" (\"LSTM\"): direction is \"sideways\"; it must be \"forward\", \"reverse\" or "
          "\"bidirectional\"");
    CHECK(refusal([](OnnxModel&, ::onnx::NodeProto& node) { node.mutable_attribute(0)->set_i(2); }) ==
          "node \"n_y\" (\"LSTM\"): hidden_size is 2; its weights are for 1");
    CHECK(refusal([](OnnxModel&, ::onnx::NodeProto& node) {
              auto& names = tests::attribute(node, "activations", ::onnx::AttributeProto::STRINGS);
              for (const char* const name : {"Sigmoid", "Affine", "Tanh"}) names.add_strings(name);
          }) ==
          "node \"n_y\" (\"LSTM\"): activations is [\"Sigmoid\", \"Affine\", \"Tanh\"]; \"Affine\" is not "
          "supported: "
          "docs/operators.md lists those that are");
    CHECK(
        refusal([](OnnxModel& model, ::onnx::NodeProto& node) {
            model.floats("two", {2}, {1, 1});
            node.set_input(5, "two");
        }) ==
        "node \"n_y\" (\"LSTM\"): its input 5 (state) is 2; for its sequence and direction it must be 1x1x1");
    CHECK(refusal([](OnnxModel& model, ::onnx::NodeProto& node) {
              model.floats("number", {}, {1});
              node.set_input(2, "number");
          }) ==
          "node \"n_y\" (\"LSTM\"): its weights of the state are scalar; they must have 3 axes: directions, "
          "gates and "
          "elements");
    const auto first_dimension = [](OnnxModel& model) {
        return model.graph()
            .mutable_input(0)
            ->mutable_type()
            ->mutable_tensor_type()
            ->mutable_shape()
            ->mutable_dim(0);
    };
    // Some exporters write 0 or -1 for a size that is open.
    for (const std::int64_t size : {0, -1, 1}) {
        CAPTURE(size);
        CHECK(refusal([&](OnnxModel& model, ::onnx::NodeProto&) {
                  first_dimension(model)->clear_dim_value();
                  if (size < 1) first_dimension(model)->set_dim_value(size);
              }) ==
              "node \"n_y\" (\"LSTM\"): its sequence has 1 step, as the first axis of the network's input "
              "has no size and "
              "counts as the batch; its length must be given with --input-shape");
    }
    CHECK(refusal([&](OnnxModel& model, ::onnx::NodeProto&) {
              first_dimension(model)->set_dim_value(10000000);
          }) ==
          "node \"n_y\" (\"LSTM\"): it has 10000000 steps, which are 160000000 nodes or more; a recurrent "
          "layer may "
          "be at "
          "most 524288");
    CHECK(refusal([](OnnxModel& model, ::onnx::NodeProto& node) {
              model.raw<std::int32_t>("lengths", ::onnx::TensorProto::INT32, {1}, {1});
              node.set_input(4, "lengths");
          }) == "node \"n_y\" (\"LSTM\"): its sequences have 1 steps of 2; all must have all of them");
}

TEST_CASE("A Bidirectional layer of Keras is two layers", "[compiler][frontend]") {
    const json inner = tests::layer("SimpleRNN", "r", {{"units", 2}, {"return_sequences", true}});
    const auto both = [&](const json& mode) {
        return tests::sequential(
            {nullptr, 3, 1}, {tests::layer("Bidirectional", "b", {{"layer", inner}, {"merge_mode", mode}})});
    };
    const std::vector<float> x{0.5F, -0.25F, 0.125F};
    const auto alone = [&](bool is_backwards) {
        json turned = inner;
        turned["config"]["go_backwards"] = is_backwards;
        return reference::execute(tests::sequential({nullptr, 3, 1}, {turned}), x, 1);
    };
    const std::vector<float> forward = alone(false);
    // Alone, the layer lists its steps in the order in which it makes them.
    const std::vector<float> made = alone(true);
    const std::vector<float> backward{made[4], made[5], made[2], made[3], made[0], made[1]};
    const std::vector<float> joined = reference::execute(both("concat"), x, 1);
    const std::vector<float> sum = reference::execute(both("sum"), x, 1);
    const std::vector<float> mean = reference::execute(both("ave"), x, 1);
    REQUIRE(joined.size() == 12);
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(joined[i / 2 * 4 + i % 2] == forward[i]);
        CHECK(joined[i / 2 * 4 + 2 + i % 2] == backward[i]);
        CHECK(sum[i] == forward[i] + backward[i]);
        CHECK(mean[i] == Approx((forward[i] + backward[i]) / 2));
    }
    CHECK_THROWS_AS(both("max"), ModelError);
}

TEST_CASE(
    "The second layer of a Bidirectional one lists its steps the other way round, whichever way it goes",
    "[compiler][frontend]") {
    const std::vector<float> x{0.5F, -0.25F, 0.125F};
    const auto inner = [](bool is_backwards) {
        return tests::layer("SimpleRNN", "r",
                            {{"units", 1}, {"return_sequences", true}, {"go_backwards", is_backwards}});
    };
    for (const bool first : {false, true}) {
        for (const bool second : {false, true}) {
            const json both = tests::layer(
                "Bidirectional", "b",
                {{"layer", inner(first)}, {"backward_layer", inner(second)}, {"merge_mode", nullptr}});
            const ir::Graph graph = tests::sequential({nullptr, 3, 1}, {both});
            const std::vector<float> forward =
                reference::execute(tests::sequential({nullptr, 3, 1}, {inner(first)}), x, 1);
            std::vector<float> backward =
                reference::execute(tests::sequential({nullptr, 3, 1}, {inner(second)}), x, 1);
            std::ranges::reverse(backward);
            const json joined = tests::layer("Bidirectional", "b",
                                             {{"layer", inner(first)}, {"backward_layer", inner(second)}});
            const std::vector<float> results =
                reference::execute(tests::sequential({nullptr, 3, 1}, {joined}), x, 1);
            for (std::size_t i = 0; i < 3; ++i) {
                CHECK(results[2 * i] == forward[i]);
                CHECK(results[2 * i + 1] == backward[i]);
            }
            CHECK(graph.output().shape == ir::Shape{1, 3, 1});
        }
    }
}
