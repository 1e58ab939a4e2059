// Convolutions that read the same tensor go through the array together. Answers stay the same, pixels are
// streamed once, and the report shows this.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "tests/support/mapping_layers.h"
#include "tests/support/random_network.h"
#include "tests/support/random_runs.h"
#include "tests/support/truth.h"

namespace systole {
namespace {

using tests::Bytes;
using tests::RandomNetwork;

machine::MachineConfig machine_of(std::uint32_t rows, std::uint32_t columns) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = rows;
    machine.matrix_unit.columns = columns;
    machine.accumulators.banks = 1;
    machine.accumulators.rows = 48;
    return machine;
}

/// How parallel convolutions are scheduled.
struct Found {
    std::uint32_t joined = 0;
    std::uint32_t cut = 0;     ///< by a border of column tiles
    std::uint32_t wide = 0;    ///< of 16-bit results
    std::uint32_t tables = 0;  ///< with a lookup
    std::uint32_t concatenated = 0;
    std::uint32_t out_of_group = 0;  ///< joined to a layer that takes the pass in groups, and behind those
};

void count(const tpu_v1::Network& network, const tpu_v1::Schedule& schedule, Found& found) {
    for (std::uint32_t l = 0; l < schedule.layers.size(); ++l) {
        const tpu_v1::LayerPlan& plan = schedule.layers[l];
        if (!plan.joined_to) continue;
        std::uint32_t segments = 0;
        for (const auto& column_tile : schedule.layers[*plan.joined_to].segments) {
            for (const tpu_v1::Segment& segment : column_tile) segments += segment.layer == l;
        }
        const tpu_v1::TensorId output = network.layers[l].output;
        const std::uint32_t grouped = schedule.memory.groups.layers;
        ++found.joined;
        found.cut += segments > 1;
        found.wide += bytes_of(network.tensors[output].type) == 2 ? 1 : 0;
        found.tables += plan.table_row.has_value();
        found.concatenated += schedule.memory.tensors[output].part_of.has_value();
        found.out_of_group += *plan.joined_to < grouped && l >= grouped;
    }
}

/// Three convolutions of one pixel's windows over an 8 x 8 x 16 image.
tpu_v1::Network three_convolutions() {
    std::mt19937 random(3);
    tpu_v1::Network network;
    network.name = "parallel";
    network.tensors = {{.name = "image", .shape = {8, 8, 16}}};
    for (const std::uint32_t filters : {5U, 4U, 7U}) {
        const auto output = static_cast<tpu_v1::TensorId>(network.tensors.size());
        network.tensors.push_back({.name = "t" + std::to_string(output), .shape = {8, 8, filters}});
        tpu_v1::MatrixProduct convolution;
        convolution.window = ir::Window{};
        convolution.weights = tests::random_weights(std::uint64_t{16} * filters, random);
        convolution.requantization = tests::requantization(filters);
        network.layers.push_back({.name = "l" + std::to_string(output),
                                  .inputs = {0},
                                  .output = output,
                                  .work = std::move(convolution),
                                  .macs = std::uint64_t{8} * 8 * 16 * filters});
    }
    network.outputs = {3};
    return network;
}

}  // namespace

TEST_CASE("Parallel convolutions compute the same on arrays where nothing fits, in batches and groups",
          "[system][truth][parallel]") {
    struct Size {
        std::uint32_t rows, columns;
    };
    constexpr Size sizes[] = {{4, 4}, {13, 7}, {8, 16}, {16, 40}};
    constexpr std::uint32_t first_seed = 9200;
    Found found;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(400); ++seed) {
        std::mt19937 random(seed);
        RandomNetwork networks(random);
        const ir::Graph graph = networks.draw();
        const tpu_v1::Network network = tpu_v1::lower(graph);
        const Size& size = sizes[seed % std::size(sizes)];
        machine::MachineConfig machine = machine_of(size.rows, size.columns);
        mapping::Batches options{.batch = 1, .inferences = 1};
        tpu_v1::Schedule schedule = make_schedule(network, tests::target_of(machine), options);
        // Just too small for a batch.
        options = {.batch = 4, .inferences = 6};
        machine.unified_buffer.rows = 3 * schedule.memory.rows;
        schedule = make_schedule(network, tests::target_of(machine), options);
        const std::uint32_t joined_before = found.joined;
        count(network, schedule, found);
        if (found.joined == joined_before) continue;
        INFO("seed " << seed << ", array " << size.rows << " x " << size.columns << "\n"
                     << tpu_v1::to_text(schedule));
        tests::check_truth(graph, machine, options, networks.images(graph, options.inferences));
    }
    CHECK(found.joined >= tests::random_share(51));
    CHECK(found.cut >= tests::random_share(11));
    CHECK(found.wide >= tests::random_share(11));
    CHECK(found.tables >= tests::random_share(11));
    CHECK(found.concatenated >= tests::random_share(11));
    CHECK(found.out_of_group >= tests::random_share(1));
}

TEST_CASE("Pixels are streamed once for all parallel convolutions in a column tile, in the name of the first",
          "[system][parallel]") {
    // Of 5, 4 and 7 filters.
    struct Example {
        std::uint32_t columns;
        std::uint64_t column_tiles;
        std::uint64_t of_first;
        std::uint64_t joined_filters;
    };
    const Example example =
        GENERATE(Example{16, 1, 1, 5 + 4 + 7}, Example{10, 2, 1, 5 + 4}, Example{6, 2 + 1, 2, 5 + 7},
                 Example{4, 3 + 1, 3, 5 + 7}, Example{3, 3 + 3, 3, 5 + 4});
    CAPTURE(example.columns);
    const machine::MachineConfig machine = machine_of(16, example.columns);
    const isa::Program program =
        tpu_v1::compile(three_convolutions(), tests::target_of(machine), {.batch = 1, .inferences = 1});
    tests::FreshSimulation simulation;
    hw::System system("system", machine, program, {});
    system.run();
    constexpr std::uint64_t pixels = 8 * 8;
    CHECK(system.counter("matrix_unit.active_cycles").value() == pixels * example.column_tiles);
    CHECK(system.counter("weight_fifo.tiles").value() == example.column_tiles);
    CHECK(system.counter("matrix_unit.active_cycles").value(1) == pixels * example.of_first);
    CHECK(system.counter("matrix_unit.useful_macs").value(1) == pixels * 16 * example.joined_filters);
    CHECK(program.layers[0].macs == pixels * 16 * example.joined_filters);
}

}  // namespace systole
