// Networks compiled for machines with tiles, run on the simulated chip, give what the reference computes.
#include "compiler/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "base/rounding.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/reference/executor.h"
#include "hw/isa/assembly.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/integer_graphs.h"
#include "tests/support/random_runs.h"
#include "tests/support/reference_host.h"

namespace systole {
namespace {

std::uint32_t picked(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
}

template <class... Choices>
auto one_of(std::mt19937& random, Choices... choices) {
    const std::array all{choices...};
    return all[picked(random, 0, all.size() - 1)];
}

machine::MachineConfig random_tiles(std::mt19937& random) {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.tile_array.lines = picked(random, 1, 4);
    machine.tile_array.columns = picked(random, 1, 4);
    machine.tile_array.lanes = one_of(random, 16U, 32U, 64U);
    machine.tile_array.pixels = one_of(random, 1U, 2U, 5U, 64U);
    machine.tile_array.weight_buffers = picked(random, 1, 3);
    machine.tile_array.weight_buffer_rows = one_of(random, 4U, 7U, 32U);
    machine.tile_array.rounding =
        one_of(random, Rounding::Tflite, Rounding::HalfToEven, Rounding::FloatHalfEven);
    machine.wide_memory.bytes = 64 * one_of(random, 16U, 200U, 4096U);
    machine.narrow_memory.bytes = 1U << 20U;
    machine.ring.bytes_per_cycle = 64;
    machine.host_interface.read_gb_per_s = 100;
    machine.host_interface.write_gb_per_s = 100;
    return machine;
}

struct TilesRun {
    isa::Program program;
    std::vector<std::uint8_t> output;
};

TilesRun run_on_tiles(const ir::Graph& graph, const machine::MachineConfig& machine,
                      const std::vector<std::uint8_t>& input, std::uint64_t inferences) {
    compiler::Options options;
    options.batches = {.batch = 1, .inferences = inferences};
    TilesRun run{compiler::compile(graph, {}, machine, options).program, {}};
    tests::FreshSimulation simulation;
    tests::ReferenceHost host(run.program);
    hw::System system("system", machine, run.program,
                      {.values = hw::Values::Computed, .host = &host, .test_delta_delay = {}});
    for (const isa::HostBuffer& buffer : run.program.buffers) {
        if (buffer.kind != isa::BufferKind::Input) continue;
        const auto bytes = system.host_bytes(buffer);
        REQUIRE(bytes.size() == input.size());
        std::ranges::copy(input, bytes.begin());
    }
    system.run();
    for (const isa::HostBuffer& buffer : run.program.buffers) {
        if (buffer.kind != isa::BufferKind::Output) continue;
        const auto bytes = system.host_bytes(buffer);
        run.output.assign(bytes.begin(), bytes.end());
    }
    return run;
}

template <class Kind>
std::vector<Kind> instructions_of(const isa::Program& program) {
    std::vector<Kind> found;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* match = std::get_if<Kind>(&instruction)) found.push_back(*match);
    }
    return found;
}

std::vector<std::uint8_t> random_bytes(std::mt19937& random, std::uint64_t count) {
    std::vector<std::uint8_t> bytes(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}

/// TFLite squares differences of int8 alone.
std::string pair_of(DataType type, const std::string& op) {
    return op == "squared_difference" && type != DataType::Int8 ? "add" : op;
}

/// Squares are as large as the product of the operands' ranges.
ir::Encoding result_of_pair(const std::string& op, ir::Encoding encoding) {
    if (op == "squared_difference") encoding.scale *= 60;
    return encoding;
}

/// Graphs of the tiles' own operators, with windows that reach over several tiles, branches and joins.
class TilesNetwork {
public:
    explicit TilesNetwork(std::mt19937& random) : random_(random) {}

    ir::Graph draw() {
        type_ = one_of(random_, DataType::Int8, DataType::Uint8);
        values_.push_back(
            made_.input({picked(random_, 1, 12), picked(random_, 1, 12), picked(random_, 1, 6)}, encoding()));
        const std::uint32_t layers = picked(random_, 2, 8);
        for (int attempt = 0; made_.graph().nodes.size() < layers && attempt < 100; ++attempt) add();
        if (picked(random_, 0, 2) == 0) add_dense();
        return made_.graph();
    }

private:
    ir::Encoding encoding() {
        const bool is_signed = type_ == DataType::Int8;
        return {0.25 + picked(random_, 0, 100) / 300.0,
                static_cast<std::int32_t>(picked(random_, 0, 255)) - (is_signed ? 128 : 0), type_};
    }
    ir::ValueId any() { return values_[picked(random_, 0, static_cast<std::uint32_t>(values_.size()) - 1)]; }

    tests::IntegerWeights weights(std::uint64_t count, std::uint32_t outputs) {
        tests::IntegerWeights all{.values = {}, .scales = {0.02}};
        for (std::uint64_t i = 0; i < count; ++i) all.values.push_back(static_cast<std::int8_t>(random_()));
        if (picked(random_, 0, 1) == 1) {
            all.scales.clear();
            for (std::uint32_t i = 0; i < outputs; ++i) all.scales.push_back(0.001 * picked(random_, 1, 60));
        } else if (picked(random_, 0, 1) == 1) {
            all.zero_point = static_cast<std::int32_t>(picked(random_, 0, 255)) - 128;
        }
        if (picked(random_, 0, 1) == 1) {
            for (std::uint32_t i = 0; i < outputs; ++i)
                all.bias.push_back(static_cast<std::int32_t>(picked(random_, 0, 4000)) - 2000);
        }
        return all;
    }

    ir::Window window(const ir::FeatureMap& map, bool is_dilated) {
        ir::Window window;
        window.kernel_height = picked(random_, 1, std::min(map.height, 5U));
        window.kernel_width = picked(random_, 1, std::min(map.width, 5U));
        window.stride_y = picked(random_, 1, 3);
        window.stride_x = picked(random_, 1, 3);
        if (is_dilated && picked(random_, 0, 3) == 0) {
            const std::uint32_t most = std::max(window.kernel_height, window.kernel_width);
            if (2 * (most - 1) + 1 <= std::min(map.height, map.width)) {
                window.dilation_y = window.dilation_x = 2;
            }
        }
        window.pad_top = picked(random_, 0, window.kernel_height - 1);
        window.pad_bottom = picked(random_, 0, window.kernel_height - 1);
        window.pad_left = picked(random_, 0, window.kernel_width - 1);
        window.pad_right = picked(random_, 0, window.kernel_width - 1);
        return window;
    }

    void add() {
        const ir::ValueId from = any();
        const ir::FeatureMap map = made_.map(from);
        switch (picked(random_, 0, 6)) {
            case 0:
            case 1: {
                const ir::Window over = window(map, true);
                const std::uint32_t filters = picked(random_, 1, 40);
                const std::uint64_t count =
                    std::uint64_t{over.kernel_height} * over.kernel_width * map.channels * filters;
                values_.push_back(
                    made_.convolution(from, over, filters, weights(count, filters), encoding()));
                return;
            }
            case 2: {
                const ir::Window over = window(map, true);
                const std::uint32_t multiplier = picked(random_, 1, 2);
                if (map.channels * multiplier > 80) return;
                const std::uint32_t outputs = map.channels * multiplier;
                const std::uint64_t count = std::uint64_t{over.kernel_height} * over.kernel_width * outputs;
                values_.push_back(
                    made_.depthwise(from, over, multiplier, weights(count, outputs), encoding()));
                return;
            }
            case 3: {
                values_.push_back(
                    made_.pool(one_of(random_, "max_pool", "average_pool"), from, window(map, false)));
                return;
            }
            case 4: {
                const ir::ValueId other = any();
                if (made_.map(other) != map) return;
                const std::string op =
                    pair_of(type_, one_of(random_, "add", "multiply", "squared_difference"));
                values_.push_back(made_.append(op, {from, other}, result_of_pair(op, encoding())));
                return;
            }
            default:
                return add_joined(from);
        }
    }

    /// Features that later layers extend, as in a network with dense connections: a layer reads a part of
    /// what it will lie in.
    void add_joined(ir::ValueId from) {
        const ir::FeatureMap map = made_.map(from);
        if (map.channels > 60) return;
        ir::Window same{.kernel_height = std::min(map.height, 3U), .kernel_width = std::min(map.width, 3U)};
        same.pad_top = (same.kernel_height - 1) / 2;
        same.pad_bottom = same.kernel_height - 1 - same.pad_top;
        same.pad_left = (same.kernel_width - 1) / 2;
        same.pad_right = same.kernel_width - 1 - same.pad_left;
        const std::uint32_t filters = picked(random_, 1, 9);
        const std::uint64_t count =
            std::uint64_t{same.kernel_height} * same.kernel_width * map.channels * filters;
        const ir::ValueId more =
            made_.convolution(from, same, filters, weights(count, filters), made_.encoding(from));
        values_.push_back(more);
        values_.push_back(made_.append("concat", {from, more}, made_.encoding(from)));
    }

    void add_dense() {
        const ir::ValueId from = values_.back();
        const std::uint32_t outputs = picked(random_, 1, 200);
        const std::uint64_t elements = made_.map(from).elements();
        const ir::ValueId first =
            made_.dense({from}, outputs, weights(elements * outputs, outputs), encoding());
        if (picked(random_, 0, 1) == 0) return;
        const std::uint32_t last = picked(random_, 1, 40);
        made_.dense({first}, last, weights(std::uint64_t{outputs} * last, last), encoding());
    }

    std::mt19937& random_;
    DataType type_ = DataType::Int8;
    tests::IntegerGraph made_;
    std::vector<ir::ValueId> values_;
};

/// Element-wise layers with constants, slopes and minima: nodes that several instructions compute.
class PiecesNetwork {
public:
    explicit PiecesNetwork(std::mt19937& random)
        : random_(random), type_(one_of(random, DataType::Int8, DataType::Uint8)) {}

    ir::Graph draw() {
        const bool is_vector = picked(random_, 0, 4) == 0;
        last_ = made_.input({is_vector ? 1 : picked(random_, 1, 40), is_vector ? 1 : picked(random_, 1, 6),
                             picked(random_, 1, 80)},
                            encoding());
        for (std::uint32_t i = picked(random_, 1, 3); i > 0; --i) add();
        return made_.graph();
    }

private:
    ir::Encoding encoding() {
        const bool is_signed = type_ == DataType::Int8;
        return {0.25 + picked(random_, 0, 100) / 300.0,
                static_cast<std::int32_t>(picked(random_, 0, 255)) - (is_signed ? 128 : 0), type_};
    }

    ir::ValueId constant(const ir::Encoding& stored, bool is_slope) {
        const std::uint32_t channels = made_.map(last_).channels;
        ir::Shape shape{1, 1, channels};
        if (made_.map(last_).is_vector() || picked(random_, 0, 2) == 0) shape = ir::Shape{channels};
        if (!is_slope && picked(random_, 0, 5) == 0) shape = ir::Shape{1};
        const ir::FeatureMap map = made_.map(last_);
        if (!map.is_vector() && picked(random_, 0, 7) == 0) {
            shape = ir::Shape{picked(random_, 0, 1) == 0 ? 1 : map.height, map.width,
                              picked(random_, 0, 1) == 0 ? 1 : channels};
        }
        std::vector<std::uint8_t> bytes = random_bytes(random_, shape.elements());
        const std::string name = fmt::format("constant{}", made_.graph().values.size());
        ir::ValueId id = 0;
        if (type_ == DataType::Uint8) {
            id = made_.graph().add_constant(name, shape, type_, bytes);
        } else {
            id = made_.graph().add_constant(name, shape, type_,
                                            std::vector<std::int8_t>(bytes.begin(), bytes.end()));
        }
        made_.store(id, stored);
        return id;
    }

    void add() {
        const ir::Encoding own = made_.encoding(last_);
        switch (picked(random_, 0, 3)) {
            case 0: {
                const ir::ValueId slopes = constant(encoding(), true);
                last_ = made_.append("prelu", {last_, slopes}, encoding());
                return;
            }
            case 1: {
                const std::string op = one_of(random_, "maximum", "minimum");
                last_ = made_.append(op, {last_, constant(own, false)}, own);
                return;
            }
            case 2: {
                if (made_.map(last_).is_vector()) return;
                const std::int64_t axis = picked(random_, 1, 3);
                last_ = made_.append("reduce_min", {last_}, own,
                                     {{"axes", std::vector<std::int64_t>{axis}}, {"keep", std::int64_t{1}}});
                return;
            }
            default: {
                const ir::ValueId other = constant(encoding(), false);
                const bool is_first = picked(random_, 0, 1) == 0;
                const std::string op =
                    pair_of(type_, one_of(random_, "add", "subtract", "multiply", "squared_difference"));
                last_ = made_.append(op, is_first ? std::vector{other, last_} : std::vector{last_, other},
                                     result_of_pair(op, encoding()));
            }
        }
    }

    std::mt19937& random_;
    DataType type_;
    tests::IntegerGraph made_;
    ir::ValueId last_ = 0;
};

}  // namespace

TEST_CASE("Random networks of the tiles' operators compute what the reference computes",
          "[compiler][edge_tpu]") {
    constexpr std::uint32_t first_seed = 7000;
    std::uint32_t streamed = 0, exchanged = 0, joined = 0, dense = 0, by_tile = 0;
    const std::uint32_t runs = tests::random_runs(250);
    for (std::uint32_t seed = first_seed; seed < first_seed + runs; ++seed) {
        std::mt19937 random(seed);
        const ir::Graph graph = TilesNetwork(random).draw();
        const machine::MachineConfig machine = random_tiles(random);
        const std::uint64_t inferences = picked(random, 1, 2);
        const auto input = random_bytes(random, inferences * graph.input().shape.elements());
        INFO("seed " << seed << "\n" << ir::to_text(graph));
        const TilesRun run = run_on_tiles(graph, machine, input, inferences);
        const ir::Graph prepared = compiler::prepare(graph, {}, machine);
        REQUIRE(run.output == reference::execute(prepared, input, static_cast<std::uint32_t>(inferences)));
        streamed += !instructions_of<isa::StreamParameters>(run.program).empty();
        exchanged += !instructions_of<isa::Exchange>(run.program).empty();
        joined += std::ranges::any_of(graph.nodes, [](const ir::Node& node) { return node.is("concat"); });
        for (const isa::TileMultiply& multiply : instructions_of<isa::TileMultiply>(run.program)) {
            dense += multiply.product == isa::TileProduct::Dense;
            by_tile += multiply.streamed && multiply.product == isa::TileProduct::Convolve;
        }
    }
    for (const std::uint32_t met : {streamed, exchanged, joined, dense, by_tile}) {
        CHECK(met >= tests::random_share(20));
    }
}

TEST_CASE("Constant operands, slopes and minima compute what the reference computes",
          "[compiler][edge_tpu]") {
    constexpr std::uint32_t first_seed = 71000;
    std::uint32_t slopes = 0, minima = 0, first = 0, cut = 0, squares = 0, images = 0;
    const std::uint32_t runs = tests::random_runs(800);
    for (std::uint32_t seed = first_seed; seed < first_seed + runs; ++seed) {
        std::mt19937 random(seed);
        const ir::Graph graph = PiecesNetwork(random).draw();
        if (graph.nodes.empty()) continue;
        machine::MachineConfig machine = random_tiles(random);
        machine.wide_memory.bytes = 1U << 18U;
        // What does not fit is computed in strips, or by the host.
        const bool is_small = picked(random, 0, 1) == 0;
        if (is_small) machine.narrow_memory.bytes = 64 * picked(random, 10, 40);
        const auto input = random_bytes(random, graph.input().shape.elements());
        INFO("seed " << seed << "\n" << ir::to_text(graph));
        TilesRun run;
        try {
            run = run_on_tiles(graph, machine, input, 1);
        } catch (const ModelError&) {
            REQUIRE(is_small);  // the input alone takes more
            continue;
        }
        const ir::Graph prepared = compiler::prepare(graph, {}, machine);
        REQUIRE(run.output == reference::execute(prepared, input, 1));
        if (!is_small) REQUIRE(run.program.host_segments.empty());
        for (const ir::Node& node : graph.nodes) {
            slopes += node.is("prelu");
            minima += node.is("reduce_min");
            squares += node.is("squared_difference");
            first += graph.values[node.inputs.front()].constant.has_value();
        }
        for (const isa::TileVector& vector : instructions_of<isa::TileVector>(run.program)) {
            cut += vector.with_margins;
        }
        images += instructions_of<isa::ReadTensor>(run.program).size() > 1;
    }
    INFO("slopes " << slopes << ", minima " << minima << ", first " << first << ", cut " << cut
                   << ", squares " << squares << ", images " << images);
    for (const std::uint32_t met : {slopes, minima, first, cut, squares, images})
        CHECK(met >= tests::random_share(10));
}

}  // namespace systole
