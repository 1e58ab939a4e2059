// LSTM cells with 16-bit activations, from graph to chip.
#include "tests/support/lstm.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"
#include "tests/support/truth.h"

namespace systole {
namespace {

using tests::Bytes;
using tests::GraphParts;
using tests::LstmShape;

struct Array {
    std::uint32_t rows, columns;
};

machine::MachineConfig machine_of(const Array& array) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = array.rows;
    machine.matrix_unit.columns = array.columns;
    machine.unified_buffer.rows = (1U << 20U) / array.rows;
    machine.accumulators.rows = 64;
    return machine;
}

/// Random sizes whose slices begin at rows of the array.
LstmShape random_shape(GraphParts& parts, std::uint32_t cells, const Array& array) {
    const std::uint32_t largest = std::max(array.rows, array.columns) * 3 / 2;
    return {.inputs = parts.number(1, largest),
            .hidden = parts.number(1, largest),
            .cells = cells,
            .alignment = std::max(array.rows / 2, 1U)};
}

/// A network, its parts, and inputs for it as real numbers and as stored.
struct Case {
    Case(ir::Graph network_graph, GraphParts& parts, std::uint32_t count)
        : graph(std::move(network_graph)),
          inferences(count),
          values(parts.values(count * graph.input().shape.elements())) {
        passes::Calibration calibration;
        calibration.inputs = values;
        calibration.count = count;
        quantized = passes::prepare(graph, calibration);
        network = tpu_v1::lower(quantized);
        const ir::Encoding encoding = ir::encoding_of(quantized.input());
        for (const float value : values) {
            const auto element =
                static_cast<std::int32_t>(std::lround(value / encoding.scale)) + encoding.zero_point;
            const std::int32_t bits =
                std::clamp(element, lowest_of(encoding.type), highest_of(encoding.type));
            stored.push_back(static_cast<std::uint8_t>(bits));
            if (bytes_of(encoding.type) == 2) stored.push_back(static_cast<std::uint8_t>(bits >> 8));
        }
    }

    /// The integer reference's outputs as numbers.
    std::vector<float> outputs() const {
        const tpu_v1::Tensor& tensor = network.tensors[network.outputs.front()];
        const Bytes bytes = reference::execute(quantized, stored, inferences);
        std::vector<float> numbers;
        for (std::size_t i = 0; i < bytes.size(); i += bytes_of(tensor.type)) {
            const std::int32_t element = bytes_of(tensor.type) == 2
                                             ? static_cast<std::int16_t>(bytes[i] + 256 * bytes[i + 1])
                                             : bytes[i];
            numbers.push_back(static_cast<float>(tensor.scale * (element - tensor.zero_point)));
        }
        return numbers;
    }

    ir::Graph graph;
    std::uint32_t inferences;
    std::vector<float> values;
    ir::Graph quantized;
    tpu_v1::Network network;
    Bytes stored;
};

/// Rounds the weights of dense layers so that 8 bits hold them exactly: multiples of 1/127 of the largest,
/// which is in each unit.
void make_weights_exact(ir::Graph& graph) {
    for (const ir::Node& node : graph.nodes) {
        if (!node.is("dense")) continue;
        const ir::NodeView view(graph, node);
        ir::Value& constant = graph.values[node.inputs[view.data_inputs()]];
        const auto values = constant.constant->values<float>();
        std::vector<float> weights(values.begin(), values.end());
        const float largest = *std::max_element(weights.begin(), weights.end());
        for (float& weight : weights) {
            weight = std::round(std::max(weight, -largest) / largest * 127.0F) / 127.0F * largest;
        }
        std::fill_n(weights.begin(), view.output_map().channels, largest);
        constant.constant = ir::Constant::of(std::move(weights));
    }
}

/// How far each activation's number, as stored, may be from that of the float graph: a bound that follows the
/// numbers through the network. A 16-bit step is the largest magnitude of the activation / 32767.
class ErrorBound {
public:
    ErrorBound(const Case& made, bool exact_weights) : graph_(made.graph), exact_weights_(exact_weights) {
        magnitudes_.resize(graph_.values.size());
        steps_.resize(graph_.values.size());
        errors_.resize(graph_.values.size());
        reference::execute(graph_, made.values, made.inferences,
                           [&](ir::ValueId id, std::span<const float> values) {
                               for (const float value : values) {
                                   magnitudes_[id] = std::max(magnitudes_[id], double{std::abs(value)});
                               }
                           });
        // Tensors that dense layers or concatenations combine are stored with the step of the largest.
        const double largest = *std::max_element(magnitudes_.begin(), magnitudes_.end());
        const ir::ValueId input = graph_.inputs.front();
        steps_[input] = largest / 32767;
        errors_[input] = steps_[input] / 2;
        for (const ir::Node& node : graph_.nodes) {
            const bool shared = !operators::operator_of(node).function(node).has_value();
            steps_[node.output()] = (shared ? largest : magnitudes_[node.output()]) / 32767;
            errors_[node.output()] = error_of(node);
        }
    }

    double output() const { return errors_[graph_.outputs.front()]; }

private:
    double error_of(const ir::Node& node) const {
        const ir::NodeView view(graph_, node);
        const auto input = [&](std::size_t i) { return node.inputs[i]; };
        const double step = steps_[node.output()];
        if (node.is("dense")) {
            const auto [largest, row_sum] = weights_of(view);
            const double weight_step = largest / 127;
            const double weight_error = exact_weights_ ? 0.0 : weight_step / 2;
            const double x = magnitudes_[input(0)];
            const double from_inputs = row_sum * errors_[input(0)];
            const double elements = view.constant(0)->shape[0];
            const double from_weights = elements * weight_error * (x + errors_[input(0)]);
            const double from_bias = steps_[input(0)] * weight_step / 2;
            // The multiplication and the shift of requantization round once each.
            return from_inputs + from_weights + from_bias + step;
        }
        if (operators::operator_of(node).function(node)) {
            const bool tanh = node.is("tanh");
            // Largest slope and second derivative: 1 and 4 / sqrt(27), or 1/4 and 1 / (6 sqrt(3)).
            const double slope = tanh ? 1.0 : 0.25;
            const double bend = tanh ? 0.7699 : 0.09623;
            const double between_entries = 128 * steps_[input(0)];
            // A straight line between entries; entries and result are rounded.
            return slope * errors_[input(0)] + bend * between_entries * between_entries / 8 + step;
        }
        if (node.is("multiply")) {
            const double a = errors_[input(0)];
            const double b = errors_[input(1)];
            return a * magnitudes_[input(1)] + b * magnitudes_[input(0)] + a * b + step;
        }
        double worst = 0.0;
        double sum = 0.0;
        for (const ir::ValueId each : node.inputs) {
            worst = std::max(worst, errors_[each]);
            sum += errors_[each];
        }
        // Both terms of an addition are rounded far below a step, and the sum twice; nothing else rounds.
        return node.is("add") ? sum + 1.1 * step : worst;
    }

    /// The largest weight, and the largest sum of the magnitudes that make a unit.
    static std::pair<double, double> weights_of(const ir::NodeView& dense) {
        const std::size_t units = dense.output_map().channels;
        const auto weights = dense.constant(0)->constant->values<float>();
        double largest = 0.0;
        std::vector<double> sums(units);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const double magnitude = std::abs(double{weights[i]});
            largest = std::max(largest, magnitude);
            sums[i % units] += magnitude;
        }
        return {largest, *std::max_element(sums.begin(), sums.end())};
    }

    const ir::Graph& graph_;
    const bool exact_weights_;
    std::vector<double> magnitudes_, steps_, errors_;
};

/// Array passes of the network's dense layers: each input's tiles, each column tile, each image; twice where
/// activations are 16-bit.
std::uint64_t dense_cycles(const Case& made, const Array& array) {
    const auto tiles = [](std::uint64_t elements, std::uint64_t side) {
        return (elements + side - 1) / side;
    };
    std::uint64_t cycles = 0;
    for (const tpu_v1::Layer& layer : made.network.layers) {
        const auto* const product = std::get_if<tpu_v1::MatrixProduct>(&layer.work);
        if (product == nullptr || product->window) continue;
        const std::uint64_t units = made.network.tensors[layer.output].shape.channels;
        for (const tpu_v1::TensorId id : layer.inputs) {
            const tpu_v1::Tensor& tensor = made.network.tensors[id];
            cycles += tiles(tensor.shape.elements(), array.rows) * tiles(units, array.columns) *
                      bytes_of(tensor.type);
        }
    }
    return cycles * made.inferences;
}

void check_cycles(const Case& made, const machine::MachineConfig& machine, std::uint32_t batch) {
    const Array array{machine.matrix_unit.rows, machine.matrix_unit.columns};
    const isa::Program program = tpu_v1::compile(made.network, tests::target_of(machine),
                                                 {.batch = batch, .inferences = made.inferences});
    tests::FreshSimulation simulation;
    hw::System system("system", machine, program, {.values = hw::Values::TimingOnly, .test_delta_delay = {}});
    system.run();
    CHECK(system.counter("matrix_unit.active_cycles").value() == dense_cycles(made, array));
}

std::vector<std::string> kinds_of(const tpu_v1::Network& network, const machine::MachineConfig& machine) {
    std::vector<std::string> kinds;
    const auto schedule =
        tpu_v1::make_schedule(network, tests::target_of(machine), {.batch = 1, .inferences = 1});
    for (const tpu_v1::LayerPlan& layer : schedule.layers) kinds.push_back(layer.kind);
    return kinds;
}

}  // namespace

TEST_CASE("LSTM cells compute the same on chip, functional executor and integer reference",
          "[system][lstm]") {
    const Array array = GENERATE(Array{8, 8}, Array{32, 16}, Array{6, 5}, Array{256, 256});
    const std::uint32_t cells = GENERATE(1U, 2U);
    const std::uint32_t seeds = array.rows > 32 ? 1 : 4;
    for (std::uint32_t seed = 100; seed < 100 + seeds; ++seed) {
        GraphParts parts(seed);
        const LstmShape shape = random_shape(parts, cells, array);
        INFO("seed " << seed << ", array " << array.rows << " x " << array.columns << ", " << shape.inputs
                     << " inputs, " << shape.hidden << " hidden, " << cells << " cells");
        const std::uint32_t batch = parts.number(1, 5);
        const Case made(tests::lstm_graph(shape, parts), parts, parts.number(1, 9));
        const machine::MachineConfig machine = machine_of(array);
        tests::check_truth(made.quantized, machine, {.batch = batch, .inferences = made.inferences},
                           made.stored);
        check_cycles(made, machine, batch);
    }
}

TEST_CASE("An LSTM cell of 16 bits differs from the float cell by its quantization error at most",
          "[system][lstm]") {
    const std::uint32_t cells = GENERATE(1U, 2U);
    // Rounding weights to 8 bits alone may cost 1/254 of each product.
    const bool exact_weights = GENERATE(false, true);
    for (std::uint32_t seed = 300; seed < 310; ++seed) {
        GraphParts parts(seed);
        const LstmShape shape{
            .inputs = parts.number(1, 60), .hidden = parts.number(1, 60), .cells = cells, .alignment = 1};
        ir::Graph graph = tests::lstm_graph(shape, parts);
        if (exact_weights) make_weights_exact(graph);
        const Case made(std::move(graph), parts, 20);
        const double bound = ErrorBound(made, exact_weights).output();
        const double error = tests::largest_difference(
            made.outputs(), reference::execute(made.graph, made.values, made.inferences));
        INFO("seed " << seed << ", " << shape.inputs << " inputs, " << shape.hidden << " hidden: error "
                     << error << ", bound " << bound);
        CHECK(error <= bound);
        CHECK(error > 0.0);
        // Without the rounding of weights, the error is a few steps of 16 bits.
        if (exact_weights) CHECK(error <= 0.0005);
    }
}

TEST_CASE("16-bit activations are closer to float than 8-bit ones", "[system][lstm]") {
    double errors[2] = {};
    for (const std::uint8_t bits : {std::uint8_t{8}, std::uint8_t{16}}) {
        GraphParts parts(77);
        const LstmShape shape{.inputs = 40, .hidden = 30, .cells = 1, .alignment = 1};
        ir::Graph graph = tests::lstm_graph(shape, parts, bits);
        make_weights_exact(graph);
        const Case made(std::move(graph), parts, 30);
        errors[bits / 8 - 1] = tests::largest_difference(
            made.outputs(), reference::execute(made.graph, made.values, made.inferences));
    }
    CAPTURE(errors[0], errors[1]);
    CHECK(errors[1] < errors[0] / 30);
}

TEST_CASE("A cell is four dense layers of two inputs and five element-wise layers; nothing is moved",
          "[system][lstm]") {
    GraphParts parts(5);
    const Case made(tests::lstm_graph({.inputs = 12, .hidden = 8, .cells = 1, .alignment = 4}, parts), parts,
                    3);
    std::map<std::string, int> count;
    for (const std::string& kind : kinds_of(made.network, machine_of({8, 8}))) ++count[kind];
    CHECK(count ==
          std::map<std::string, int>{
              {"slice", 3}, {"dense", 4}, {"multiply", 3}, {"add", 1}, {"lookup", 1}, {"concat", 1}});
    for (const tpu_v1::Layer& layer : made.network.layers) {
        const auto* dense = std::get_if<tpu_v1::MatrixProduct>(&layer.work);
        if (dense == nullptr) continue;
        CHECK(layer.inputs.size() == 2);
        CHECK(dense->requantization.table.has_value());
        // One encoding for both.
        const auto encoding = [&](std::size_t i) {
            const tpu_v1::Tensor& tensor = made.network.tensors[layer.inputs[i]];
            return std::pair(tensor.scale, tensor.zero_point);
        };
        CHECK(encoding(0) == encoding(1));
    }
}

TEST_CASE("Layers of 8 and of 16 bits mix where a dense layer lies between", "[system][lstm]") {
    const Array array = GENERATE(Array{8, 8}, Array{32, 16});
    for (std::uint32_t seed = 500; seed < 504; ++seed) {
        GraphParts parts(seed);
        const LstmShape shape = random_shape(parts, 1, array);
        CAPTURE(seed, array.rows, shape.inputs, shape.hidden);
        // 8-bit input, a 16-bit cell, 8-bit output with relu and a table.
        tests::Graph graph = tests::graph_of({1, 1, parts.number(1, 40)});
        tests::NodeId last =
            graph.append("spread", parts.dense(graph.input_shape(), shape.vector_elements(), true), {0}, 16);
        last = tests::LstmBuilder(graph, parts, shape, 16).append(last).front();
        last = graph.append("narrow", parts.dense(graph.shape(last), 9, true), {last});
        last = graph.append("relu", tests::op("relu"), {last});
        last = graph.append("swish", tests::op("swish"), {last});
        last = graph.append("again", parts.dense(graph.shape(last), 5, false), {last}, 16);
        const Case made(graph, parts, 7);
        CHECK(made.network.tensors[made.network.inputs.front()].type == DataType::Uint8);
        CHECK(made.network.tensors[made.network.outputs.front()].type == DataType::Int16);
        const machine::MachineConfig machine = machine_of(array);
        tests::check_truth(made.quantized, machine, {.batch = 3, .inferences = made.inferences}, made.stored);
        check_cycles(made, machine, 3);
    }
}

TEST_CASE("A convolution of 16 bits takes twice the cycles of one of 8, and gives the reference's results",
          "[system][lstm]") {
    std::uint64_t active[2] = {};
    for (const std::uint8_t bits : {std::uint8_t{8}, std::uint8_t{16}}) {
        GraphParts parts(9);
        tests::Graph graph({9, 7, 3}, bits);
        const ir::Window window{.kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1};
        const tests::NodeId last =
            graph.append("conv", parts.convolution(graph.input_shape(), window, 11, true), {0}, bits);
        graph.append("tanh", tests::op("tanh"), {last}, bits);
        const Case made(graph, parts, 4);
        const machine::MachineConfig machine = machine_of({16, 8});
        tests::check_truth(made.quantized, machine, {.batch = 2, .inferences = 4}, made.stored);
        const isa::Program program =
            tpu_v1::compile(made.network, tests::target_of(machine), {.batch = 2, .inferences = 4});
        tests::FreshSimulation simulation;
        hw::System system("system", machine, program,
                          {.values = hw::Values::TimingOnly, .test_delta_delay = {}});
        system.run();
        active[bits / 8 - 1] = system.counter("matrix_unit.active_cycles").value();
    }
    CHECK(active[1] == 2 * active[0]);
}

TEST_CASE("A layer that cannot have 16 bits is a ModelError that names it", "[system][lstm]") {
    const auto message = [](ir::Graph graph, const Array& array) -> std::string {
        GraphParts parts(1);
        try {
            const Case made(std::move(graph), parts, 2);
            tpu_v1::compile(made.network, tests::target_of(machine_of(array)), {.batch = 1, .inferences = 2});
        } catch (const ModelError& error) {
            return error.what();
        }
        return "compiled";
    };
    GraphParts parts(2);
    const auto dense_of = [&](std::uint8_t bits) {
        tests::Graph graph = tests::graph_of({1, 1, 8});
        graph.append("dense", parts.dense(graph.input_shape(), 24, true), {0}, bits);
        return graph;
    };
    tests::Graph slice = dense_of(16);
    slice.append("part", tests::slice(6, 4), {1}, 16);
    CHECK(message(slice, {4, 4}) == "compiled");
    CHECK(message(slice, {12, 4}) == "compiled");
    CHECK(
        message(slice, {8, 4}) ==
        "made: layer \"part\": it is a slice from element 6 on, byte 12 of an image; on an array of 8 rows a "
        "slice must begin at a multiple of 8 bytes");
    tests::Graph mixed = dense_of(16);
    mixed.append("sigmoid", tests::op("sigmoid"), {1}, 16);
    mixed.append("twice", tests::op("multiply"), {2, 2}, 8);
    CHECK(message(mixed, {8, 8}) ==
          "made: layer \"twice\": it gives 8 bits from 16 bits; of multiply, input and result have as many");
    tests::Graph odd = dense_of(16);
    odd.get().values.back().stored_as = DataType::Int32;
    CHECK(message(odd, {8, 8}) ==
          "made: layer \"dense\": it is to be stored as int32; activations may be uint8 or int16");
}

}  // namespace systole
