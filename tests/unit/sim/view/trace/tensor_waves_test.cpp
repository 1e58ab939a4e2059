// Waves of tensor cores: those that the units of all machines have in common, and those of the matrix unit.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "hw/isa/assembly.h"
#include "hw/machine/machine_config.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sim/view/trace/wave_run.h"

using namespace systole;

namespace {

machine::MachineConfig machine_named(const std::string& name) {
    return machine::read_machine(std::filesystem::path(tests::source_dir()) / "configs/machines" /
                                 (name + ".json"));
}

machine::MachineConfig tensor_core() {
    return machine_named("tpu_v2_1core");
}

/// One core of a machine with eight: it has two arrays.
machine::MachineConfig core_with_two_arrays() {
    machine::MachineConfig machine = machine_named("tpu_v3_8");
    machine.system = {.chips = 1, .cores = 1};
    return machine;
}

/// A product that waits for its weights, one that keeps them, and one whose weights shift in behind it.
const char* const products_of_tensor_core =
    ".tensor_core 128 128\n.layer \"first\" dense; .layer \"second\" dense\n"
    "tag 1; load_weights src=0 depth=128 columns=128; product dst=2048 src=1024 rows=16 depth=128 "
    "columns=128\n"
    "product dst=3072 src=1040 rows=8 depth=128 columns=128 keep\n"
    "tag 2; load_weights src=128 depth=128 columns=128; product dst=4096 src=1024 rows=16 depth=128 "
    "columns=128\nhalt\n";

}  // namespace

TEST_CASE("Waves of a tensor core have the matrix unit's cycles as its counters do", "[waves]") {
    const tests::Folder folder;
    const isa::Program program = isa::assemble(products_of_tensor_core, "test");
    tests::run_with_waves(
        program, tensor_core(), {.kinds = {"waves"}}, folder,
        [&](const hw::System& system, const tests::WaveListener& listener) {
            const auto waves = tests::read_waves(folder);
            tests::check_states(waves, system);
            REQUIRE(listener.streams.size() == 3);
            const auto layers = waves.by_cycle("matrix_unit.layer");
            const auto instructions = waves.by_cycle("matrix_unit.instruction");
            for (const hw::StreamTimes& stream : listener.streams) {
                CHECK(layers.at(stream.begun) == stream.tag);
                CHECK(instructions.at(stream.begun) == stream.number);
            }
            CHECK(waves.count("matrix_unit.weight_shift") > 0);
            CHECK(waves.count("product_setup.busy") == system.counter("product_setup.busy_cycles").value());
        });
}

TEST_CASE("Waves of two arrays have each cycle once, and the counters twice", "[waves]") {
    const tests::Folder folder;
    const isa::Program program = isa::assemble(products_of_tensor_core, "test");
    const machine::MachineConfig machine = core_with_two_arrays();
    REQUIRE(machine.matrix_unit.arrays == 2);
    tests::run_with_waves(program, machine, {.kinds = {"waves"}}, folder,
                          [&](const hw::System& system, const tests::WaveListener& /*listener*/) {
                              tests::check_states(tests::read_waves(folder), system, 2);
                          });
}
