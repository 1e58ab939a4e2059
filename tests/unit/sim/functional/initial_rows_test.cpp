// docs/isa.md, "Machine model": what the memories hold at first is the same for everything that runs a
// program.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/program_file.h"
#include "hw/system/system.h"
#include "sim/functional/executor.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/program_interpreter.h"
#include "tests/unit/sim/functional/run.h"

using namespace systole;
using functional::tests::Bytes;
using functional::tests::small_machine;

namespace {

constexpr std::uint32_t chip_buffer_rows = 20;
constexpr std::uint32_t chip_sums_rows = 8;

/// Adds a product to initial sums, with initial rows as activations and as parameters, and writes the results
/// and other initial bytes to the host.
const std::string from_initial_rows = R"(
    .array 4 3
    .buffer out output 0 12
    .tile 4 3
    .int8 1 0 0  0 1 0  0 0 1  2 2 2
    .unified_buffer 0 8
    .int8 1 2 3 4  -5 6 -7 8
    .unified_buffer 4 27
    .int32 3*4 3*0x40000000
    .int8 3*1
    .unified_buffer 14 3 fill 77
    .accumulators 5 2
    .int32 10 -20 30  40 -50 60
    set activation.parameters_row 4; set output.minimum -128; set output.maximum 127
    set activation.columns 3; set activation.pixel_bytes 4; set activation.outputs_per_image 2
    read_weights tile=0
    matmul ub=0 acc=5 rows=2 signed accumulate; sync.signal matrix sem=0
    activate acc=0 ub=0 rows=0 load
    sync.wait activation sem=0; activate acc=5 ub=12 rows=2; sync.signal activation sem=1
    sync.wait host_write sem=1; write_host out ub=12 block=12
    halt
)";

Bytes output_of_chip(const isa::Program& program, machine::Engine engine) {
    const tests::FreshSimulation simulation;
    machine::MachineConfig machine = small_machine(program.geometry, chip_buffer_rows, chip_sums_rows);
    machine.matrix_unit.engine = engine;
    hw::System system("system", machine, program, {.test_delta_delay = {}});
    system.run();
    const auto bytes = system.host_bytes(program.buffers.at(0));
    return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("Initial rows are the same for the chip, the functional executor and the interpreter") {
    const isa::Program text = isa::assemble(from_initial_rows, "test");
    const tests::Folder folder;
    isa::write_program(text, folder / "rows.tpu");
    for (const isa::Program& program : {text, isa::read_program(folder / "rows.tpu")}) {
        // (10 + 1 + 8 + 4), (-20 + 2 + 8 + 4), ...; then the initial bytes of row 14.
        const auto bits = [](int value) { return static_cast<std::uint8_t>(value); };
        const Bytes expected{
            23, bits(-6), 45, 0, bits(40 - 5 + 16 + 4), bits(-50 + 6 + 16 + 4), bits(60 - 7 + 16 + 4), 0,
            77, 77,       77, 0};
        functional::Executor executor(program,
                                      small_machine(program.geometry, chip_buffer_rows, chip_sums_rows));
        executor.run();
        const auto bytes = executor.host_bytes(program.buffers.at(0));
        CHECK(Bytes(bytes.begin(), bytes.end()) == expected);
        for (std::size_t engine = 0; engine < machine::engine_names.size(); ++engine) {
            CAPTURE(machine::engine_names.at(engine));
            CHECK(output_of_chip(program, static_cast<machine::Engine>(engine)) == expected);
        }
        tests::ProgramInterpreter interpreter(
            program, {.unified_buffer_rows = chip_buffer_rows, .accumulator_rows = chip_sums_rows}, {});
        interpreter.run_in_program_order();
        // Its other bytes are not zeros, so that their use shows.
        const std::vector<std::uint8_t> interpreted = interpreter.output();
        for (const std::size_t byte : {0U, 1U, 2U, 4U, 5U, 6U, 8U, 9U, 10U})
            CHECK(interpreted.at(byte) == expected[byte]);
    }
}
