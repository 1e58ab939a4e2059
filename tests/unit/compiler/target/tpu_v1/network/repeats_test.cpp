// Recurrences on the chip: steps share weights and names, and compute what the integer reference computes.
#include "compiler/target/tpu_v1/network/repeats.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/encoding.h"
#include "compiler/ir/text.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "compiler/target/tpu_v1/scheduled_network.h"
#include "tests/support/random_runs.h"
#include "tests/support/truth.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;

namespace {

struct Recurrence {
    std::string op = "LSTM";
    std::int64_t gates = 4;
    std::int64_t directions = 1;
    std::int64_t steps = 1;
    std::int64_t inputs = 1;
    std::int64_t hidden = 1;
    bool lists_steps = false;  ///< the result has all steps
    std::uint32_t seed = 0;
};

/// A recurrent node, behind which a dense layer takes its last state, or a product its steps.
ir::Graph graph_of(const Recurrence& made) {
    std::mt19937 random(made.seed);
    const auto drawn = [&](std::int64_t count) {
        const float limit = 1.0F / std::sqrt(static_cast<float>(made.hidden));
        std::uniform_real_distribution<float> real(-limit, limit);
        std::vector<float> numbers(static_cast<std::size_t>(count));
        for (float& number : numbers) number = real(random);
        return numbers;
    };
    const std::int64_t rows = made.gates * made.hidden;
    const std::int64_t width = made.directions * made.hidden;
    tests::OnnxModel model(14);
    model.input("x", {1, made.steps, made.inputs});
    model.floats("w", {made.directions, rows, made.inputs}, drawn(made.directions * rows * made.inputs));
    model.floats("r", {made.directions, rows, made.hidden}, drawn(made.directions * rows * made.hidden));
    model.floats("b", {made.directions, 2 * rows}, drawn(made.directions * 2 * rows));
    tests::with_attribute(model.node("Transpose", {"x"}, {"t"}), "perm", tests::Extents{1, 0, 2});
    ::onnx::NodeProto& node = model.node(made.op, {"t", "w", "r", "b"}, {"y", "y_h"});
    tests::with_attribute(node, "hidden_size", made.hidden);
    if (made.directions == 2) tests::with_attribute(node, "direction", "bidirectional");
    if (made.op == "GRU") tests::with_attribute(node, "linear_before_reset", std::int64_t{made.seed % 2});
    constexpr std::int64_t classes = 3;
    model.floats("d", {width, classes}, drawn(width * classes));
    if (made.lists_steps) {
        tests::with_attribute(model.node("Transpose", {"y"}, {"u"}), "perm", tests::Extents{2, 0, 1, 3});
        model.raw<std::int64_t>("shape", ::onnx::TensorProto::INT64, {3}, {1, made.steps, width});
    } else {
        tests::with_attribute(model.node("Transpose", {"y_h"}, {"u"}), "perm", tests::Extents{1, 0, 2});
        model.raw<std::int64_t>("shape", ::onnx::TensorProto::INT64, {2}, {1, width});
    }
    model.node("Reshape", {"u", "shape"}, {"flat"});
    model.node("MatMul", {"flat", "d"}, {"z"});
    model.output("z");
    return model.read();
}

struct Quantized {
    ir::Graph graph;
    tests::Bytes input;  ///< as stored
};

Quantized quantized(const ir::Graph& graph, std::uint32_t seed, std::uint32_t inferences) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> real(-1, 1);
    passes::Calibration calibration;
    calibration.count = inferences;
    calibration.inputs.resize(inferences * graph.input().shape.elements());
    for (float& number : calibration.inputs) number = real(random);
    Quantized made{.graph = passes::prepare(graph, calibration), .input = {}};
    const ir::Encoding encoding = ir::encoding_of(made.graph.input());
    for (const float number : calibration.inputs) {
        const auto stored = static_cast<std::int32_t>(std::lround(number / encoding.scale));
        made.input.push_back(static_cast<std::uint8_t>(std::clamp(stored + encoding.zero_point, 0, 255)));
    }
    return made;
}

machine::MachineConfig machine_of(std::uint32_t rows, std::uint32_t columns) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = rows;
    machine.matrix_unit.columns = columns;
    machine.unified_buffer.rows = (1U << 20U) / rows;
    machine.accumulators.rows = 64;
    return machine;
}

tpu_v1::ScheduledNetwork scheduled(const ir::Graph& graph, const machine::MachineConfig& machine,
                                   std::uint32_t batch) {
    return tpu_v1::schedule_network(tpu_v1::lower(graph), tpu_v1::target_of(machine, {}),
                                    {.batch = batch, .inferences = batch});
}

std::size_t reported_layers(const tpu_v1::Schedule& schedule) {
    std::size_t count = 0;
    for (std::size_t l = 0; l < schedule.layers.size(); ++l)
        count += tpu_v1::is_reported(schedule.layers[l], l) ? 1 : 0;
    return count;
}

Recurrence drawn(std::mt19937& random, std::int64_t most_hidden) {
    const auto number = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    constexpr std::array<std::pair<const char*, std::int64_t>, 3> kinds{
        {{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}}};
    const auto& [op, gates] = kinds.at(static_cast<std::size_t>(number(0, 2)));
    return {.op = op,
            .gates = gates,
            .directions = number(1, 2),
            .steps = number(2, 6),
            .inputs = number(1, most_hidden),
            .hidden = number(1, most_hidden),
            .lists_steps = number(0, 1) == 1,
            .seed = static_cast<std::uint32_t>(random())};
}

}  // namespace

TEST_CASE("Recurrences compute on the chip what the integer reference computes", "[compiler][recurrence]") {
    constexpr std::array<std::uint32_t, 4> sides{4, 8, 16, 32};
    for (std::uint32_t seed = 0; seed < tests::random_runs(60); ++seed) {
        std::mt19937 random(seed);
        const std::uint32_t rows = sides.at(random() % sides.size());
        const std::uint32_t columns = sides.at(random() % sides.size());
        const Recurrence made = drawn(random, 40);
        const auto batch = static_cast<std::uint32_t>(1 + random() % 3);
        CAPTURE(seed, rows, columns, batch, made.op, made.directions, made.steps, made.inputs, made.hidden,
                made.lists_steps, made.seed);
        const Quantized network = quantized(graph_of(made), seed, batch);
        tests::check_truth(network.graph, machine_of(rows, columns), {.batch = batch, .inferences = batch},
                           network.input);
    }
}

TEST_CASE("More steps of a recurrence take no more weights, parameters, layers in reports or host work",
          "[compiler][recurrence]") {
    const Recurrence few{
        .directions = 2, .steps = 5, .inputs = 6, .hidden = 12, .lists_steps = true, .seed = 3};
    Recurrence many = few;
    many.steps = 40;
    const machine::MachineConfig machine = machine_of(16, 16);
    const tpu_v1::ScheduledNetwork short_one = scheduled(quantized(graph_of(few), 1, 2).graph, machine, 2);
    const tpu_v1::ScheduledNetwork long_one = scheduled(quantized(graph_of(many), 1, 2).graph, machine, 2);
    CHECK(long_one.schedule.weight_tiles == short_one.schedule.weight_tiles);
    CHECK(long_one.schedule.constant_rows == short_one.schedule.constant_rows);
    CHECK(reported_layers(long_one.schedule) == reported_layers(short_one.schedule));
    const auto segments = [](const tpu_v1::ScheduledNetwork& network) {
        return std::ranges::count_if(network.mapped.analysed.network().layers, tpu_v1::runs_on_host);
    };
    CHECK(segments(long_one) == segments(short_one));
    // A step has the same layers, whichever it is.
    const std::size_t layers = short_one.schedule.layers.size();
    const std::size_t of_steps = long_one.schedule.layers.size() - layers;
    CHECK(of_steps % 35 == 0);
    const auto macs = [](const tpu_v1::ScheduledNetwork& network) {
        std::uint64_t sum = 0;
        for (const tpu_v1::LayerPlan& plan : network.schedule.layers) sum += plan.macs;
        return sum;
    };
    // Products of the inputs, of the state, and of the dense layer, of which the first state is 0.
    const std::uint64_t of_input = 2 * 4 * 6 * 12;
    const std::uint64_t of_state = 2 * 4 * 12 * 12;
    CHECK(macs(short_one) == 5 * of_input + 4 * of_state + 5 * 24 * 3);
    CHECK(macs(long_one) == 40 * of_input + 39 * of_state + 40 * 24 * 3);
}

TEST_CASE("A recurrence with one tile fetches it once for all steps", "[compiler][recurrence]") {
    const Recurrence made{.op = "RNN", .gates = 1, .steps = 9, .inputs = 8, .hidden = 16, .seed = 5};
    const Quantized network = quantized(graph_of(made), 1, 2);
    const tpu_v1::ScheduledNetwork one = scheduled(network.graph, machine_of(16, 16), 2);
    std::size_t fetched = 0;
    std::size_t kept = 0;
    for (const tpu_v1::Operation& operation : one.schedule.operations) {
        const auto* const work = std::get_if<tpu_v1::MultiplyImages>(&operation);
        if (work == nullptr || !one.schedule.layers[work->layer].name.ends_with("/state")) continue;
        (work->keep_weights ? kept : fetched) += work->tiles;
    }
    CHECK(fetched == 1);
    CHECK(kept == 7);
}

TEST_CASE("Layers of a repeated name share only what they have in common", "[compiler][recurrence]") {
    const auto network = [](double scale) {
        tpu_v1::Network made;
        made.name = "n";
        for (std::uint32_t id = 0; id < 3; ++id) {
            made.tensors.push_back({.name = "t", .shape = {.height = 1, .width = 1, .channels = 2}});
            made.tensors.back().scale = id == 2 ? scale : 1.0;
        }
        for (std::uint32_t l = 0; l < 2; ++l) {
            tpu_v1::Elementwise work;
            work.operation = isa::VectorOperation::Multiply;
            work.result = {.multiplier = static_cast<std::int32_t>(l == 1 ? scale * 100 : 100), .shift = 0};
            made.layers.push_back({.name = "part", .inputs = {l, l}, .output = l + 1, .work = work});
        }
        made.outputs = {2};
        return made;
    };
    tpu_v1::Network alike = network(1.0);
    const std::vector<std::string> names{"part"};
    tpu_v1::share_repeats(alike, names);
    CHECK(alike.layers[1].repeats == 0U);
    tpu_v1::Network unlike = network(2.0);
    tpu_v1::share_repeats(unlike, names);
    CHECK_FALSE(unlike.layers[1].repeats.has_value());
    tpu_v1::Network unnamed = network(1.0);
    tpu_v1::share_repeats(unnamed, std::vector<std::string>{"another"});
    CHECK_FALSE(unnamed.layers[1].repeats.has_value());
}
