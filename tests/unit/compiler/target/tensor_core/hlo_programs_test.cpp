// Programs of JAX on a tensor core: the bits of the reference.
#include "tests/support/hlo_programs.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <vector>

#include "compiler/passes/prepare.h"
#include "compiler/target/tensor_core/family.h"
#include "hw/machine/machine_config.h"
#include "tests/support/tensor_networks.h"

namespace systole::tests {
namespace {

machine::MachineConfig one_core() {
    machine::MachineConfig machine;
    machine.name = "one core";
    machine.family = machine::Family::TensorCore;
    machine.matrix_unit.formats = machine::float_array_formats();
    machine.matrix_unit.rows = 128;
    machine.matrix_unit.columns = 128;
    machine.vector_unit.lanes = 128;
    machine.vector_memory.rows = 1U << 15U;
    machine.hbm.bytes = std::uint64_t{1} << 30U;
    return machine;
}

TEST_CASE("Programs of JAX have the reference's bits on a tensor core", "[tensor_core][hlo]") {
    const machine::MachineConfig machine = one_core();
    for (const std::filesystem::path& file : answer_files()) {
        INFO(file);
        ir::Graph graph =
            hlo::read_hlo(std::filesystem::path(file).replace_extension(".hlo"), operators::registry());
        graph.state.clear();  // one step: the inputs that outputs replace are given
        const ir::Graph prepared = passes::prepare_in_words(graph, {}, {});
        const mapping::Options options;
        const isa::Program program = tensor_core::family.compile(prepared, machine, options).program;
        const WordTensors inputs = read_answers(file, prepared).inputs;
        check_bits(program, machine, inputs, expected_outputs(prepared, options.batches, inputs), false);
    }
}

}  // namespace
}  // namespace systole::tests
