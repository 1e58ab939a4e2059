// The cost model by which the compiler chooses among mappings, against the simulator.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <random>

#include "compiler/target/tpu_v1/choose/choose_blocks.h"
#include "compiler/target/tpu_v1/choose/choose_joins.h"
#include "compiler/target/tpu_v1/choose/choose_slices.h"
#include "compiler/target/tpu_v1/choose/choose_stages.h"
#include "compiler/target/tpu_v1/emit/emit_program.h"
#include "compiler/target/tpu_v1/network/parallel_layers.h"
#include "compiler/target/tpu_v1/target.h"
#include "tests/support/chip.h"
#include "tests/support/files.h"
#include "tests/support/mapping_layers.h"
#include "tests/support/random_layers.h"
#include "tests/support/random_runs.h"
#include "tests/system/sim_process.h"

namespace systole {
namespace {

using tests::between;
using tests::one_of;
using tests::random_convolution;
using tests::random_machine;

/// Cycles from the first row of array input to the last activation.
Cycle simulated_cycles(const tpu_v1::Network& network, const tpu_v1::Target& target,
                       const machine::MachineConfig& machine, std::uint32_t batch) {
    tests::Chip chip(machine, tpu_v1::compile(network, target, {.batch = batch, .inferences = batch}), {},
                     hw::Values::TimingOnly);
    chip.run();
    return chip.times(isa::QueueId::Activation).back().complete -
           chip.times(isa::QueueId::Matrix).front().begun;
}

/// A network of one dense layer.
tpu_v1::Network random_dense(std::mt19937& random) {
    const std::uint32_t outputs = one_of(random, {64U, 256U, 512U, 1024U, 2048U});
    tpu_v1::MatrixProduct product;
    product.requantization = tests::requantization(outputs);
    tpu_v1::Network network;
    network.name = "dense";
    network.has_weights = false;
    network.tensors = {{.name = "vector", .shape = {1, 1, one_of(random, {64U, 256U, 1024U, 2048U})}},
                       {.name = "result", .shape = {1, 1, outputs}}};
    network.outputs = {1};
    network.layers.push_back({.name = "layer", .inputs = {0}, .output = 1, .work = product, .macs = 1});
    return network;
}

tpu_v1::Layer product_layer(const char* name, tpu_v1::TensorId input, tpu_v1::TensorId output,
                            std::uint32_t channels, std::optional<ir::Window> window) {
    tpu_v1::MatrixProduct product;
    product.window = window;
    product.requantization = tests::requantization(channels);
    return {.name = name, .inputs = {input}, .output = output, .work = product, .macs = 1};
}

/// Convolutions with large images, which come in groups where memory is short, and a dense layer with many
/// weights behind them.
tpu_v1::Network random_cnn(std::mt19937& random) {
    tpu_v1::Network network = random_convolution(random);
    const ir::FeatureMap large = network.tensors[1].shape;
    const ir::Window window = ir::same_window(large, {4, 4}, {4, 4});
    const ir::FeatureMap small = ir::window_output(large, window, 16);
    const std::uint32_t units = one_of(random, {64U, 512U, 2048U});
    network.tensors.push_back({.name = "small", .shape = small});
    network.tensors.push_back({.name = "scores", .shape = {1, 1, units}});
    network.outputs = {3};
    network.layers.push_back(product_layer("shrink", 1, 2, 16, window));
    network.layers.push_back(product_layer("dense", 2, 3, units, std::nullopt));
    return network;
}

/// A network of two to four layers that read the same rows: dense layers or convolutions.
tpu_v1::Network random_siblings(std::mt19937& random) {
    const bool dense = between(random, 0, 1) == 0;
    tpu_v1::Network network = dense ? random_dense(random) : random_convolution(random);
    const tpu_v1::Layer first = network.layers.front();
    const auto window = std::get<tpu_v1::MatrixProduct>(first.work).window;
    network.layers.clear();
    network.outputs.clear();
    network.tensors.resize(1);
    const std::uint32_t count = between(random, 2, 4);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t channels = between(random, 1, one_of(random, {30U, 100U, 300U, 600U}));
        const auto shape = window ? ir::window_output(network.tensors[0].shape, *window, channels)
                                  : ir::FeatureMap{1, 1, channels};
        const auto id = static_cast<tpu_v1::TensorId>(network.tensors.size());
        network.tensors.push_back({.name = fmt::format("result{}", i), .shape = shape});
        network.outputs.push_back(id);
        network.layers.push_back(product_layer("layer", 0, id, channels, window));
    }
    return network;
}

/// How close predictions are to simulated cycles, and how much slower the chosen alternative is than the
/// fastest.
struct Predictions {
    double errors = 0, worst_error = 0, losses = 0, worst_loss = 0;
    std::uint32_t predictions = 0, layers = 0;
    Cycle fewest = ~Cycle{0};
    Cycle of_chosen = 0;

    void add(Cycle predicted, Cycle simulated, bool is_chosen) {
        const double error = std::abs(static_cast<double>(predicted) / static_cast<double>(simulated) - 1);
        errors += error;
        worst_error = std::max(worst_error, error);
        ++predictions;
        fewest = std::min(fewest, simulated);
        if (is_chosen) of_chosen = simulated;
    }
    void end_layer() {
        const double loss = static_cast<double>(of_chosen) / static_cast<double>(fewest) - 1;
        losses += loss;
        worst_loss = std::max(worst_loss, loss);
        ++layers;
        fewest = ~Cycle{0};
    }
    std::string text() const {
        return fmt::format("mean error {:.5f}, worst {:.4f} of {}; mean loss {:.5f}, worst {:.4f} of {}",
                           errors / predictions, worst_error, predictions, losses / layers, worst_loss,
                           layers);
    }
};

/// How well the chosen size of slices does against the others.
struct SlicesTried {
    double losses = 0, worst = 0, gains = 0;
    std::uint32_t networks = 0, chosen_others = 0, grouped = 0;

    void add(const tpu_v1::Network& network, const machine::MachineConfig& machine,
             const mapping::Batches& options) {
        tpu_v1::Target target =
            tpu_v1::target_of(machine, machine::mapping_named(machine::MappingName::Best));
        const tpu_v1::SliceAlternatives compared =
            tpu_v1::compare_slices(tpu_v1::analyse(network, target), target, machine, options);
        if (compared.alternatives.empty()) return;
        Cycle fewest = ~Cycle{0};
        Cycle chosen = 0;
        Cycle first = 0;
        for (const tpu_v1::SliceAlternative& alternative : compared.alternatives) {
            const bool is_first = &alternative == &compared.alternatives.front();
            target.choices.slice_images = is_first ? 0 : alternative.images;
            const tpu_v1::Schedule plan = tpu_v1::make_schedule(network, target, options);
            tests::Chip chip(machine, tpu_v1::emit_program(network, plan), {}, hw::Values::TimingOnly);
            chip.run();
            const Cycle cycles = chip.times(isa::QueueId::HostWrite).back().complete;
            if (is_first) first = cycles;
            fewest = std::min(fewest, cycles);
            if (&alternative != &compared.alternatives[compared.chosen]) continue;
            chosen = cycles;
            grouped += plan.memory.groups.layers > 0;
        }
        const double loss = static_cast<double>(chosen) / static_cast<double>(fewest) - 1;
        losses += loss;
        worst = std::max(worst, loss);
        gains += static_cast<double>(first) / static_cast<double>(chosen);
        chosen_others += compared.chosen > 0;
        ++networks;
    }
    std::string text() const {
        return fmt::format(
            "mean loss {:.4f}, worst {:.4f}, of {}; {} other than the first, {} in groups; mean "
            "gain {:.3f}",
            losses / networks, worst, networks, chosen_others, grouped, gains / networks);
    }
};

/// How near predictions of pipelines are to the simulator, and how well they choose.
struct PipelinesTried {
    double errors = 0, worst_error = 0, losses = 0, worst_loss = 0, gains = 0;
    std::uint32_t predictions = 0, networks = 0, pipelines = 0;

    void add(const tpu_v1::Network& network, const machine::MachineConfig& machine,
             const mapping::Batches& options) {
        tpu_v1::Target target =
            tpu_v1::target_of(machine, machine::mapping_named(machine::MappingName::Best));
        target.costs = std::make_shared<const tpu_v1::Costs>(tpu_v1::Costs{.machine = machine});
        const tpu_v1::StageAlternatives compared =
            tpu_v1::compare_stages(tpu_v1::analyse(network, target), target, options);
        if (compared.alternatives.empty()) return;
        const auto cycles_of = [&](const tpu_v1::Target& mapped) {
            const tpu_v1::Schedule plan = tpu_v1::make_schedule(network, mapped, options);
            tests::Chip chip(machine, tpu_v1::emit_program(network, plan), {}, hw::Values::TimingOnly);
            chip.run();
            return static_cast<double>(chip.times(isa::QueueId::HostWrite).back().complete -
                                       chip.times(isa::QueueId::Matrix).front().begun);
        };
        const double without = cycles_of(target);
        double fewest = without, chosen = without;
        for (std::size_t i = 0; i < compared.alternatives.size(); ++i) {
            tpu_v1::Target staged = target;
            staged.choices.pipeline = compared.alternatives[i].pipeline;
            staged.choices.slice_images = compared.alternatives[i].images;
            const double cycles = cycles_of(staged);
            const double error = std::abs(static_cast<double>(compared.alternatives[i].cycles) / cycles - 1);
            errors += error;
            worst_error = std::max(worst_error, error);
            ++predictions;
            fewest = std::min(fewest, cycles);
            if (compared.chosen == i) chosen = cycles;
        }
        losses += chosen / fewest - 1;
        worst_loss = std::max(worst_loss, chosen / fewest - 1);
        gains += without / chosen;
        pipelines += compared.chosen.has_value();
        ++networks;
    }
    std::string text() const {
        return fmt::format(
            "mean error {:.4f}, worst {:.4f}, of {}; mean loss {:.4f}, worst {:.4f}, of {}; {} pipelines, "
            "mean gain {:.3f}",
            errors / predictions, worst_error, predictions, losses / networks, worst_loss, networks,
            pipelines, gains / networks);
    }
};

}  // namespace

TEST_CASE("Predicted cycles of pipelined slices are close to simulated ones, and choose as well",
          "[system][mapping]") {
    constexpr std::uint32_t first_seed = 9100;
    PipelinesTried tried;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(20); ++seed) {
        std::mt19937 random(seed);
        INFO("seed " << seed);
        machine::MachineConfig machine = random_machine(random);
        machine.host_interface.latency_cycles = 700;
        const tpu_v1::Network network = random_cnn(random);
        const std::uint32_t batch = one_of(random, {8U, 16U, 32U});
        tried.add(network, machine, {.batch = batch, .inferences = batch * between(random, 2, 20)});
    }
    UNSCOPED_INFO(tried.text());
    CHECK(tried.networks >= tests::random_share(15));
    CHECK(tried.pipelines >= tests::random_share(8));
    CHECK(tried.errors / tried.predictions <= 0.03);
    CHECK(tried.losses / tried.networks <= 0.01);
}

TEST_CASE("The transfers of a large product overlap with its work", "[system][mapping]") {
    const tests::Folder folder;
    const std::string network = folder.file("product.json", R"({"schema": "sim.graph/1", "name": "product",
        "input": {"shape": [4096]}, "weights": {"seed": 1}, "output": "product",
        "layers": [{"name": "product", "op": "dense", "inputs": ["input"], "units": 4096, "bias": false}]})");
    const auto cycles = [&](const std::string& options) {
        const auto report =
            tests::report_of("--machine tpu_v1 --batch 4096 --timing-only --model " + network + options);
        return report["cycles"].get<std::uint64_t>();
    };
    // The link takes 1,096,440 cycles in each direction, and the array 1,048,576.
    CHECK(cycles("") <= 1'650'000);
    CHECK(cycles(" --no-overlap") > 2'600'000);
    CHECK(cycles(" --mapping as_published") > 2'600'000);
}

TEST_CASE("Slices of the predicted size take about the fewest cycles", "[system][mapping]") {
    constexpr std::uint32_t first_seed = 8100;
    SlicesTried dense, convolutions;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(40); ++seed) {
        std::mt19937 random(seed);
        INFO("seed " << seed);
        machine::MachineConfig machine = random_machine(random);
        machine.host_interface.latency_cycles = 700;
        machine.host_interface.read_gb_per_s = one_of(random, {2.0, 10.0, 10.0, 40.0});
        machine.host_interface.write_gb_per_s = machine.host_interface.read_gb_per_s;
        const tpu_v1::Network network = random_dense(random);
        const std::uint32_t batch = one_of(random, {200U, 1000U, 2048U, 4096U});
        dense.add(network, machine, {.batch = batch, .inferences = batch});

        const tpu_v1::Network cnn = random_cnn(random);
        const std::uint64_t image = tpu_v1::image_bytes(cnn.tensors[0]) + tpu_v1::image_bytes(cnn.tensors[1]);
        machine.unified_buffer.rows =
            static_cast<std::uint32_t>((image * between(random, 2, 20) + 100'000) / machine.matrix_unit.rows);
        convolutions.add(cnn, machine, {.batch = 32, .inferences = 32});
    }
    UNSCOPED_INFO("dense: " << dense.text() << "; convolutions: " << convolutions.text());
    CHECK(dense.networks >= tests::random_share(20));
    CHECK(dense.chosen_others >= tests::random_share(10));
    CHECK(dense.losses / dense.networks <= 0.01);
    CHECK(convolutions.networks >= tests::random_share(20));
    CHECK(convolutions.chosen_others >= tests::random_share(5));
    CHECK(convolutions.grouped >= tests::random_share(5));
    CHECK(convolutions.losses / convolutions.networks <= 0.01);
    CHECK(std::max(dense.worst, convolutions.worst) <= 0.15);
}

TEST_CASE("Predicted cycles of convolutions are close to simulated ones, and choose as well",
          "[system][mapping]") {
    constexpr std::uint32_t first_seed = 7300;
    Predictions tried;
    std::uint32_t splits = 0, chosen_splits = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(40); ++seed) {
        std::mt19937 random(seed);
        const machine::MachineConfig machine = random_machine(random);
        const tpu_v1::Network network = random_convolution(random);
        const std::uint32_t batch = one_of(random, {1U, 2U, 8U, 32U});
        INFO("seed " << seed);
        tpu_v1::Target target = tpu_v1::target_of(machine, {});
        target.mapping.split_channels = true;
        const auto compared = tpu_v1::compare_blocks(tpu_v1::analyse(network, target), target, machine,
                                                     {.batch = batch, .inferences = batch});
        const auto memory =
            tpu_v1::make_schedule(network, target, {.batch = batch, .inferences = batch}).memory;
        if (compared.empty() || memory.images_per_slice < batch) continue;
        for (const tpu_v1::BlockAlternative& alternative : compared.front().alternatives) {
            target.choices.blocks = {alternative.block};
            target.choices.rests = {alternative.rest};
            splits += alternative.rest.first_channel > 0;
            tried.add(alternative.cycles, simulated_cycles(network, target, machine, batch),
                      &alternative == &compared.front().alternatives[compared.front().chosen]);
        }
        tried.end_layer();
        chosen_splits += compared.front().alternatives[compared.front().chosen].rest.first_channel > 0;
    }
    UNSCOPED_INFO(tried.text() << "; " << splits << " with two blocks, chosen " << chosen_splits);
    CHECK(splits >= tests::random_share(50));
    CHECK(chosen_splits >= tests::random_share(2));
    CHECK(tried.layers >= tests::random_share(20));
    CHECK(tried.errors / tried.predictions <= 0.005);
    CHECK(tried.losses / tried.layers <= 0.005);
}

TEST_CASE("Predicted cycles of spilled weights are close to simulated ones, and choose as well",
          "[system][mapping]") {
    constexpr std::uint32_t first_seed = 9900;
    Predictions tried;
    std::uint32_t bound_by_link = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(200); ++seed) {
        std::mt19937 random(seed);
        machine::MachineConfig machine = random_machine(random);
        machine.weight_memory.spill = true;
        // The first tiles are in the FIFO, as predictions assume, and the others come over the link.
        machine.weight_fifo.depth_tiles = 2;
        machine.weight_memory.bytes = 2 * machine.tile_bytes();
        machine.host_interface.read_gb_per_s = one_of(random, {12.5, 40.0, 100.0});
        machine.host_interface.latency_cycles = 700;
        const tpu_v1::Network network = random_convolution(random);
        const std::uint32_t batch = one_of(random, {1U, 2U, 8U, 32U});
        const mapping::Batches options{.batch = batch, .inferences = batch};
        INFO("seed " << seed);
        tpu_v1::Target target = tpu_v1::target_of(machine, {});
        target.mapping.split_channels = true;
        const auto compared =
            tpu_v1::compare_blocks(tpu_v1::analyse(network, target), target, machine, options);
        const auto memory = tpu_v1::make_schedule(network, target, options).memory;
        if (compared.empty() || memory.images_per_slice < batch) continue;
        const auto& alternatives = compared.front().alternatives;
        // Predictions say that all tiles are spilled.
        if (std::ranges::any_of(alternatives, [](const auto& each) { return each.tiles < 12; })) continue;
        machine::MachineConfig holds = machine;
        holds.weight_memory.bytes = machine::WeightMemoryConfig{}.bytes;
        for (const tpu_v1::BlockAlternative& alternative : alternatives) {
            target.choices.blocks = {alternative.block};
            target.choices.rests = {alternative.rest};
            const Cycle simulated = simulated_cycles(network, target, machine, batch);
            bound_by_link += simulated > simulated_cycles(network, target, holds, batch);
            tried.add(alternative.cycles, simulated, &alternative == &alternatives[compared.front().chosen]);
        }
        tried.end_layer();
    }
    UNSCOPED_INFO(tried.text() << "; slower than with enough weight memory " << bound_by_link);
    CHECK(bound_by_link >= tests::random_share(20));
    CHECK(tried.layers >= tests::random_share(5));
    CHECK(tried.errors / tried.predictions <= 0.05);
    CHECK(tried.losses / tried.layers <= 0.03);
}

TEST_CASE(
    "Predicted cycles of layers that read the same rows are close to simulated ones, and choose as well",
    "[system][mapping]") {
    constexpr std::uint32_t first_seed = 9200;
    Predictions tried;
    std::uint32_t joined = 0, apart = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(40); ++seed) {
        std::mt19937 random(seed);
        machine::MachineConfig machine = random_machine(random);
        // Results that leave take the ports that the model leaves out.
        machine.host_interface.write_gb_per_s = 400;
        const tpu_v1::Network network = random_siblings(random);
        const std::uint32_t batch = network.layers.front().inputs.size() == 1 &&
                                            std::get<tpu_v1::MatrixProduct>(network.layers[0].work).window
                                        ? one_of(random, {1U, 2U, 8U})
                                        : one_of(random, {1U, 16U, 200U, 1000U});
        const mapping::Batches options{.batch = batch, .inferences = batch};
        INFO("seed " << seed);
        tpu_v1::Target target = tpu_v1::target_of(machine, {});
        const auto sets = tpu_v1::compare_joins({network, target.geometry.rows}, target, machine, options,
                                                tpu_v1::JoinBlocks::Best);
        const std::size_t layers = network.layers.size();
        if (tpu_v1::make_schedule(network, target, options).memory.images_per_slice < batch) continue;
        tpu_v1::SiblingAlternatives set = sets.front();
        const std::size_t chosen = set.chosen;
        for (set.chosen = 0; set.chosen < set.alternatives.size(); ++set.chosen) {
            tpu_v1::Target mapped = target;
            mapped.choices.joins = tpu_v1::chosen_joins({set}, layers);
            tpu_v1::set_chosen_blocks(
                tpu_v1::compare_blocks(tpu_v1::analyse(network, mapped), mapped, machine, options), layers,
                mapped.choices);
            tried.add(set.alternatives[set.chosen].cycles, simulated_cycles(network, mapped, machine, batch),
                      set.chosen == chosen);
        }
        tried.end_layer();
        ++(chosen == 0 ? apart : joined);
    }
    UNSCOPED_INFO(tried.text() << "; " << joined << " joined, " << apart << " apart");
    CHECK(tried.layers >= tests::random_share(20));
    CHECK(joined >= tests::random_share(10));
    CHECK(apart >= tests::random_share(1));
    CHECK(tried.errors / tried.predictions <= 0.01);
    CHECK(tried.losses / tried.layers <= 0.005);
}

TEST_CASE("sim compile --explain shows which layers could go together", "[system][mapping]") {
    const std::string compile =
        "compile --model models/isca17/lstm1.json --machine tpu_v1 --batch 8 --random-input 1 --explain";
    const std::string best = tests::sim(compile).out;
    CHECK(best.find("2 layers of the same rows, by those that go together\n") != std::string::npos);
    CHECK(best.find("tiles  fc1 | fc2\n") != std::string::npos);
    CHECK(best.find("tiles  fc1 + fc2  chosen\n") != std::string::npos);
    const std::string published = tests::sim(compile + " --mapping as_published").out;
    CHECK(published.find("the mapping has one pixel in each row") != std::string::npos);
}

}  // namespace systole
