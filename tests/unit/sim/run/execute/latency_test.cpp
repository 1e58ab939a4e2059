// The latency of batches of random networks, on random machines.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>

#include "base/arithmetic.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/transfers.h"
#include "sim/run/execute/run.h"
#include "sim/run/record/content.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_graph_file.h"
#include "tests/support/random_runs.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

run::RunRecord run_of(const run::RunSpec& spec) {
    const tests::FreshSimulation simulation;
    return run::run(spec);
}

/// A machine that holds few images of a random network, with paths of any speed.
machine::MachineConfig tight_machine(std::mt19937& random) {
    const auto draw = [&](std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>(random() % (high - low + 1));
    };
    machine::MachineConfig machine;
    machine.matrix_unit.rows = draw(4, 20);
    machine.matrix_unit.columns = draw(4, 20);
    machine.unified_buffer.rows = draw(1, 40) * 400;
    machine.weight_memory.bandwidth_gb_per_s = 0.007 * draw(20, 3000);
    machine.weight_memory.spill = draw(0, 3) == 0;
    if (machine.weight_memory.spill) machine.weight_memory.bytes = draw(0, 20) * std::uint64_t{1000};
    machine.activation_unit.latency_cycles = draw(0, 400);
    machine.host_interface.read_gb_per_s = 0.007 * draw(20, 3000);
    machine.host_interface.write_gb_per_s = 0.007 * draw(20, 3000);
    machine.host_interface.latency_cycles = draw(0, 40);
    return machine;
}

std::uint64_t input_bytes(const run::RunRecord& record) {
    std::uint64_t bytes = 0;
    for (const run::TensorFacts& tensor : record.program.inputs) {
        std::uint64_t elements = bytes_of(tensor.type);
        for (const std::uint32_t extent : tensor.shape) elements *= extent;
        bytes += elements;
    }
    return bytes;
}

}  // namespace

TEST_CASE("One batch is in the chip for the whole run, and several for at least their intervals", "[run]") {
    const std::uint32_t seed = 353535;
    INFO("first seed " << seed);
    std::ifstream host(std::string(tests::source_dir()) + "/configs/baselines/haswell_e5_2699_v3.json");
    const run::Json host_json = run::Json::parse(host);
    std::uint32_t overlapping = 0;
    std::uint32_t refused = 0;
    for (std::uint32_t number = 0; number < tests::random_runs(60); ++number) {
        const std::uint32_t own_seed = seed + number;
        std::mt19937 random(own_seed);
        const tests::Folder folder;
        run::RunSpec spec;
        spec.network =
            run::content_of(folder.file("net.json", tests::RandomGraphFile(own_seed).draw().dump()));
        spec.machine = tight_machine(random);
        const auto mapping = static_cast<machine::MappingName>(random() % 3);
        spec.compiler = {.batch = 1 + static_cast<std::uint32_t>(random() % 6),
                         .limit = 1 + random() % 20,
                         .mapping = machine::mapping_named(mapping)};
        spec.timing_only = true;
        spec.host = host_json;
        spec.arrivals = {.per_second = 1.0};
        const std::uint64_t batches = divide_up(spec.compiler.limit, std::uint64_t{spec.compiler.batch});
        INFO(fmt::format("seed {}: batch {}, {} inferences, mapping {}, {}", own_seed, spec.compiler.batch,
                         spec.compiler.limit, static_cast<int>(mapping),
                         machine::to_json(spec.machine).dump()));
        run::RunRecord record;
        try {
            record = run_of(spec);
        } catch (const UserError&) {  // not one image fits
            ++refused;
            continue;
        }
        REQUIRE(record.latency);
        const run::BatchLatency& latency = *record.latency;
        CHECK(latency.largest <= record.cycles);
        CHECK(latency.largest * batches >= latency.sum);
        CHECK(latency.sum >= record.cycles);
        if (latency.sum > record.cycles) ++overlapping;
        if (spec.compiler.limit >= spec.compiler.batch) {
            // Those of a row of full batches.
            run::RunSpec row = spec;
            row.compiler.limit = std::uint64_t{8} * spec.compiler.batch;
            row.arrivals = {};
            const run::BatchLatency of_row = *run_of(row).latency;
            CHECK(latency.first == of_row.first);
            CHECK(latency.first <= of_row.largest);
            CHECK(latency.intervals == of_row.intervals);
            CHECK(latency.between == of_row.between);
        }
        if (batches == 1) {
            CHECK(latency.largest == record.cycles);
            CHECK_FALSE(latency.alone);
        } else {
            // The largest batch reads all of its input, and then writes its results.
            CHECK(latency.largest >
                  timing::host_read_cycles(input_bytes(record) * spec.compiler.batch, spec.machine));
            run::RunSpec alone = spec;
            alone.compiler.limit = spec.compiler.batch;
            CHECK(latency.alone == run_of(alone).cycles);
        }

        spec.arrivals = {};
        run::RunSpec cells = spec;
        cells.machine.matrix_unit.engine = machine::Engine::Pe;
        run::RunSpec values = spec;
        values.timing_only = false;
        values.data.random_input = 1;
        for (const run::RunSpec& other : {cells, values}) {
            const run::RunRecord again = run_of(other);
            CHECK(again.cycles == record.cycles);
            CHECK(again.latency->sum == latency.sum);
            CHECK(again.latency->largest == latency.largest);
            CHECK_FALSE(again.latency->alone);
        }
    }
    CHECK(overlapping >= tests::random_share(15));
    CHECK(refused <= tests::random_runs(20));
}
