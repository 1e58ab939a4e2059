// Predicted cycles against those of the simulator, and the mapping that is chosen by them against all that it
// was chosen from.
#include "compiler/target/tensor_core/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/family.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_runs.h"

using namespace systole;
using namespace systole::tensor_core;

namespace {

Cycle simulated(const isa::Program& program, const machine::MachineConfig& machine) {
    const tests::FreshSimulation simulation;
    hw::System system("system", machine, program, {.values = hw::Values::TimingOnly, .test_delta_delay = {}});
    system.run();
    return system.cycles();
}

class RandomLayers {
public:
    explicit RandomLayers(std::mt19937& random) : random_(random) {}

    machine::MachineConfig machine() {
        machine::MachineConfig machine;
        machine.name = "random";
        machine.family = machine::Family::TensorCore;
        machine.clock_mhz = 500;
        machine.matrix_unit.formats = machine::float_array_formats();
        machine.matrix_unit.rows = machine.matrix_unit.columns = machine.vector_unit.lanes = 16;
        machine.vector_unit.sublanes = 4;
        machine.vector_memory.rows = between(500, 4000);
        machine.hbm.bytes = std::uint64_t{1} << 26U;
        machine.hbm.bandwidth_gb_per_s = between(8, 60);
        machine.host_interface.read_gb_per_s = machine.host_interface.write_gb_per_s = between(4, 20);
        return machine;
    }

    /// Layers as in networks that people have: convolutions with a bias, pools, sums of branches, a dense
    /// one.
    ir::Graph graph() {
        graph_ = {};
        graph_.name = "random";
        const std::uint32_t side = between(6, 24);
        ir::ValueId last = graph_.add_input("x", {1, side, side, between(1, 20)}, DataType::Float32);
        for (std::uint32_t layers = between(1, 7); layers > 0; --layers) last = layer(last);
        if (between(0, 1) == 0) {
            const std::uint64_t elements = graph_.values[last].shape.elements();
            last = product("dense", {}, {last}, {static_cast<std::uint32_t>(elements), between(1, 40)});
        }
        graph_.outputs = {last};
        return std::move(graph_);
    }

    /// The same, where a sum over the steps replaces an input.
    ir::Graph graph_with_state() {
        graph_ = graph();
        const ir::ValueId sum =
            graph_.add_input("sum", graph_.values[graph_.outputs[0]].shape, DataType::Float32);
        graph_.outputs = {
            append("word_chain", {{"steps", std::vector<std::string>{"add 0 1"}}}, {graph_.outputs[0], sum})};
        graph_.state = {{.input = 1, .output = 0}};
        return std::move(graph_);
    }

private:
    std::uint32_t between(std::uint32_t low, std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
    }
    ir::ValueId append(const std::string& op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs) {
        return graph_.append(op + std::to_string(graph_.nodes.size()), operators::registry().at(op),
                             std::move(attributes), std::move(inputs), DataType::Float32);
    }
    ir::ValueId constant(const ir::Shape& shape) {
        return graph_.add_constant("c", shape, DataType::Float32, std::vector<float>(shape.elements(), 0.5F));
    }
    ir::ValueId product(const std::string& op, std::vector<ir::NamedAttribute> attributes,
                        std::vector<ir::ValueId> inputs, const ir::Shape& weights) {
        attributes.emplace_back("sum_tile", std::int64_t{16});
        attributes.emplace_back("precision", std::string("default"));
        inputs.push_back(constant(weights));
        const std::uint32_t columns = weights[weights.rank() - 1];
        const ir::ValueId made = append(op, std::move(attributes), std::move(inputs));
        return append("word_chain", {{"steps", std::vector<std::string>{"add 0 1"}}},
                      {made, constant({columns})});
    }

    ir::ValueId layer(ir::ValueId source) {
        const ir::Shape shape = graph_.values[source].shape;
        ir::Window window{.kernel_height = between(1, 3), .kernel_width = between(1, 3)};
        window.pad_top = window.pad_bottom = window.kernel_height / 2;
        window.pad_left = window.pad_right = window.kernel_width / 2;
        if (between(0, 3) == 0 && shape[1] > 4) window.stride_y = window.stride_x = 2;
        auto attributes = ir::attributes_of(window);
        switch (between(0, 5)) {
            case 0:
                attributes.emplace_back("reduction", std::string("maximum"));
                return append("word_windows", std::move(attributes), {source});
            case 1: {
                attributes.emplace_back("multiplier", std::int64_t{1});
                attributes.emplace_back("in_order", std::int64_t{1});
                const ir::ValueId weights =
                    constant({window.kernel_height, window.kernel_width, 1, shape[3]});
                return append("depthwise_convolution", std::move(attributes), {source, weights});
            }
            case 2: {
                const ir::ValueId branch =
                    append("word_chain", {{"steps", std::vector<std::string>{"tanh 0"}}}, {source});
                return append("word_chain", {{"steps", std::vector<std::string>{"add 0 1"}}},
                              {source, branch});
            }
            default:
                attributes.emplace_back("groups", std::int64_t{1});
                return product("convolution", std::move(attributes), {source},
                               {window.kernel_height, window.kernel_width, shape[3], between(1, 60)});
        }
    }

    std::mt19937& random_;
    ir::Graph graph_;
};

double ratio(Cycle a, Cycle b) {
    return static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace

TEST_CASE("Predicted cycles of a tensor core are near those of the simulator", "[tensor_core][choose]") {
    std::vector<double> ratios;
    std::vector<double> losses;
    for (std::uint32_t seed = 1; seed <= tests::random_runs(60); ++seed) {
        std::mt19937 random(seed);
        RandomLayers layers(random);
        const machine::MachineConfig machine = layers.machine();
        const ir::Graph graph = layers.graph();
        const std::uint32_t batch = 1U << (random() % 5);
        const mapping::Batches batches{.batch = batch, .inferences = batch};
        INFO("seed " << seed << ", batch " << batch << ": " << machine::to_json(machine).dump());
        std::string found;
        Network network = make_network(graph, machine, batch);
        ChosenMapping chosen;
        try {
            chosen = choose_mapping(network, machine, batches);
        } catch (const ModelError&) {
            continue;  // vector memory is too small
        }
        Cycle of_chosen = 0;
        Cycle best = 0;
        for (const auto& [mapping, cycles] : chosen.alternatives) {
            INFO(to_text(mapping, network));
            const MappedProgram made = map_program(network, machine, mapping, batches);
            const Cycle measured = simulated(made.program, machine);
            found += fmt::format("{} images, {}: {} predicted, {} with the whole program, {} simulated\n",
                                 mapping.images, to_text(mapping, network), cycles, made.cycles, measured);
            ratios.push_back(ratio(made.cycles, measured));
            CHECK(ratios.back() > 0.7);
            CHECK(ratios.back() < 1.2);
            if (mapping == chosen.mapping) of_chosen = measured;
            if (best == 0 || measured < best) best = measured;
        }
        losses.push_back(ratio(of_chosen, best));
        INFO(found);
        CHECK(losses.back() < 1.15);
    }
    CHECK(losses.size() > ratios.size() / 20);
    std::ranges::sort(ratios);
    CHECK(ratios[ratios.size() / 10] > 0.87);
    CHECK(ratios[ratios.size() / 2] > 0.95);
    CHECK(ratios[ratios.size() * 9 / 10] < 1.1);
}

TEST_CASE("A program with state has the same mapping for any number of steps", "[tensor_core][choose]") {
    std::size_t mapped = 0;
    for (std::uint32_t seed = 1; seed <= tests::random_runs(40); ++seed) {
        std::mt19937 random(seed);
        RandomLayers layers(random);
        const machine::MachineConfig machine = layers.machine();
        const ir::Graph graph = layers.graph_with_state();
        INFO("seed " << seed << ": " << machine::to_json(machine).dump());
        Network network = make_network(graph, machine, 1);
        const auto chosen = [&](std::uint64_t steps) {
            return choose_mapping(network, machine, {.batch = 1, .inferences = steps});
        };
        try {
            const ChosenMapping of_one = chosen(1);
            CHECK(of_one.mapping == chosen(2).mapping);
            CHECK(of_one.mapping == chosen(3).mapping);
            CHECK(of_one.program.inferences == 1);
            ++mapped;
        } catch (const ModelError&) {
            continue;  // vector memory is too small
        }
    }
    CHECK(mapped > 0);
}

TEST_CASE("Without overlap, transfers and work follow each other", "[tensor_core][choose]") {
    std::vector<double> ratios;
    for (std::uint32_t seed = 1; seed <= tests::random_runs(20); ++seed) {
        std::mt19937 random(seed);
        RandomLayers layers(random);
        const machine::MachineConfig machine = layers.machine();
        const ir::Graph graph = layers.graph();
        INFO("seed " << seed << ": " << machine::to_json(machine).dump());
        const auto cycles = [&](bool overlaps) {
            mapping::Options options;
            options.batches = {.batch = 4, .inferences = 4};
            options.mapping.overlap_transfers = overlaps;
            return simulated(family.compile(graph, machine, options).program, machine);
        };
        try {
            ratios.push_back(ratio(cycles(false), cycles(true)));
        } catch (const ModelError&) {
            continue;  // vector memory is too small
        }
        CHECK(ratios.back() > 1);
    }
    REQUIRE(!ratios.empty());
    std::ranges::sort(ratios);
    CHECK(ratios[ratios.size() / 2] > 1.2);
}
