// A machine whose every parameter matters in some program, drawn at random.
#include <array>
#include <numeric>

#include "hw/isa/multipliers.h"
#include "hw/isa/operands.h"
#include "hw/isa/rows.h"
#include "tests/support/random_program/random_case.h"

namespace systole::tests {
namespace {

std::uint32_t array_side(Choices& choices) {
    constexpr std::array<std::uint32_t, 8> largest{3, 5, 7, 9, 9, 12, 20, 64};
    return choices.number<std::uint32_t>(1, choices.one_of(largest));
}

/// None, one, or a few up to `most`.
std::uint32_t latency(Choices& choices, std::uint32_t most) {
    const std::array<std::uint32_t, 5> highest{0, 1, 3, most, most};
    return choices.number<std::uint32_t>(0, choices.one_of(highest));
}

/// GB/s: so many hundredths of a byte a cycle at 700 MHz, seldom a whole number of them.
double bandwidth(Choices& choices, std::uint64_t most_bytes_a_cycle) {
    constexpr double hundredth_of_a_byte = 0.007;
    return hundredth_of_a_byte * static_cast<double>(choices.from(20, 100 * most_bytes_a_cycle));
}

/// A DRAM of small rows, few banks and frequent refreshes, so that short programs meet all of them.
machine::DramConfig random_dram(Choices& choices) {
    machine::DramConfig dram;
    dram.channels = choices.number<std::uint32_t>(1, 2) * choices.number<std::uint32_t>(1, 2);
    dram.banks = 1U << choices.from(0, 3);
    dram.row_bytes = 64U << choices.from(0, 4);
    dram.bank_interleave_bytes = 64U << choices.from(0, 4);
    dram.queue_bursts = choices.number<std::uint32_t>(1, 9);
    dram.trcd_clocks = choices.number<std::uint32_t>(1, 17);
    dram.trp_clocks = choices.number<std::uint32_t>(1, 17);
    dram.tfaw_clocks = choices.number<std::uint32_t>(1, 40);
    if (choices.chance(30)) {
        dram.trefi_clocks = dram.trfc_clocks = 0;
    } else {
        dram.trefi_clocks = choices.number<std::uint32_t>(500, 2000);
    }
    return dram;
}

}  // namespace

machine::MachineConfig random_machine(Choices& choices) {
    machine::MachineConfig machine;
    constexpr std::array<double, 3> clocks{700.0, 1000.0, 333.3};
    machine.name = "random";
    machine.clock_mhz = choices.one_of(clocks);
    machine.matrix_unit.rows = array_side(choices);
    machine.matrix_unit.columns = array_side(choices);
    machine.matrix_unit.mac_latency_cycles = choices.number<std::uint32_t>(1, 5);
    machine.matrix_unit.setup_cycles = latency(choices, 5);
    // Any common divisor of the sides, mostly 1.
    const std::uint32_t sides = std::gcd(machine.matrix_unit.rows, machine.matrix_unit.columns);
    machine.matrix_unit.cells_per_stage = sides / std::gcd(sides, choices.number<std::uint32_t>(1, 12));
    if (choices.chance(50)) machine.matrix_unit.cells_per_stage = 1;
    machine.matrix_unit.weight_switch = choices.number<std::uint32_t>(0, 1);
    if (choices.chance(20)) machine.accumulators.sum_bits = choices.number<std::uint32_t>(8, 32);
    machine.matrix_unit.row_sums = choices.chance(80);
    machine.systolic_data_setup.fetches_per_cycle = choices.number<std::uint32_t>(1, 3);
    machine.weight_fifo.depth_tiles = choices.number<std::uint32_t>(1, 5);
    machine.weight_memory.bandwidth_gb_per_s = bandwidth(choices, 100);
    machine.weight_memory.latency_cycles = latency(choices, 91);
    machine.weight_memory.whole_tiles = choices.chance(60);
    machine.unified_buffer.read_ports = choices.number<std::uint32_t>(1, 3);
    machine.unified_buffer.write_ports = choices.number<std::uint32_t>(1, 2);
    machine.accumulators.banks = choices.number<std::uint32_t>(1, 4);
    machine.accumulators.rows =
        machine.accumulators.banks * choices.number<std::uint32_t>(2, choices.chance(30) ? 60 : 16);
    machine.accumulators.ports = choices.number<std::uint32_t>(1, 2);
    machine.accumulators.write_cycles = latency(choices, 7);
    machine.activation_unit.latency_cycles = latency(choices, 19);
    machine.activation_unit.latency_ns = latency(choices, 30) / 2.0;
    machine.host_interface.read_gb_per_s = bandwidth(choices, 60);
    machine.host_interface.write_gb_per_s = bandwidth(choices, 60);
    machine.host_interface.latency_cycles = latency(choices, 63);
    machine.host_interface.latency_ns = latency(choices, 80) / 4.0;
    machine.sequencer.instruction_buffer_bytes = choices.number<std::uint32_t>(32, 200);
    machine.sequencer.queue_depth = choices.number<std::uint32_t>(1, choices.chance(50) ? 3 : 20);
    machine.sequencer.issue_cycles = latency(choices, 9);
    // Room for parameters of all columns and for a table, and for some tensors.
    const auto rows_of = [&](std::uint64_t bytes) {
        return static_cast<std::uint32_t>(divide_up(bytes, machine.matrix_unit.rows));
    };
    machine.unified_buffer.rows =
        rows_of(isa::parameter_bytes(isa::Multipliers::Real) * machine.matrix_unit.columns) +
        rows_of(isa::table_bytes(choices.chance(40) ? DataType::Int16 : DataType::Uint8)) +
        choices.number<std::uint32_t>(8, 80);
    if (choices.chance(25)) {
        machine.weight_memory.model = machine::WeightMemoryModel::Dram;
        machine.weight_memory.dram = random_dram(choices);
    }
    if (machine.weight_memory.model == machine::WeightMemoryModel::Bandwidth && choices.chance(50)) {
        machine.weight_memory.writable = {.gb_per_s = bandwidth(choices, 100),
                                          .latency_cycles = latency(choices, 40)};
    }
    if (machine.weight_memory.model == machine::WeightMemoryModel::Bandwidth && choices.chance(30)) {
        machine.weight_memory.spill = true;
        machine.weight_memory.bytes = std::uint64_t{machine.matrix_unit.rows} * machine.matrix_unit.columns *
                                      choices.number<std::uint64_t>(2, 6);
    }
    // Some arrays take more passes than bytes need.
    if (choices.chance(15)) {
        for (machine::MatrixFormat& format : machine.matrix_unit.formats) {
            format.passes += choices.number<std::uint32_t>(0, 2);
        }
    }
    // What a file could not say is no machine.
    return machine::read_machine(machine::to_json(machine), "random machine");
}

Case random_case(Choices& choices) {
    Case made;
    made.machine = random_machine(choices);
    made.program = random_program(made.machine, choices);
    constexpr std::array<unsigned, 4> percents{0, 0, 20, 60};
    made.sync = {.seed = choices.from(0, UINT32_MAX),
                 .late_percent = choices.one_of(percents),
                 .early_percent = choices.one_of(percents),
                 .extra_percent = choices.one_of(percents) / 2,
                 .semaphores_a_pair = choices.number<unsigned>(1, 3),
                 .implied = choices.chance(30)};
    return made;
}

}  // namespace systole::tests
