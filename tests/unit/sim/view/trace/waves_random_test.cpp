// Waves of random programs on random machines, read back: they agree with the counters, the footprints and
// the registers in every cycle.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/system/system.h"
#include "tests/support/random_program/random_case.h"
#include "tests/support/random_program/synchronize.h"
#include "tests/support/random_runs.h"
#include "tests/unit/sim/view/trace/wave_run.h"

using namespace systole;
using tests::Folder;
using tests::read_waves;
using tests::ReadVcd;
using tests::run_with_waves;
using tests::WaveListener;

namespace {

void check_units(const ReadVcd& waves, const hw::System& system, const machine::MachineConfig& machine,
                 const WaveListener& heard) {
    CHECK(waves.count("activation_unit.busy") == system.counter("activation_unit.busy_cycles").value());
    CHECK(waves.count("host_interface.read") == system.counter("host_read.busy_cycles").value());
    CHECK(waves.count("host_interface.write") == system.counter("host_write.busy_cycles").value());
    CHECK(waves.count("sequencer.empty") == system.counter("sequencer.empty_cycles").value());
    CHECK(waves.count("sequencer.queue_full") == system.counter("sequencer.queue_full_cycles").value());
    if (machine.sequencer.issue_cycles > 0) {
        // A halt that nobody waits for is issued in the cycle of the end, which is none of the run's.
        const std::uint64_t at_end = heard.last_issue == system.cycles() ? 1 : 0;
        CHECK(waves.count("sequencer.issue") + at_end == system.counter("sequencer.instructions").value());
    }
    const auto tiles = waves.by_cycle("weight_fifo.tiles");
    const auto whole = waves.by_cycle("weight_fifo.whole");
    for (std::size_t cycle = 0; cycle < tiles.size(); ++cycle) {
        if (*tiles[cycle] <= machine.weight_fifo.depth_tiles && *whole[cycle] <= *tiles[cycle]) continue;
        CAPTURE(cycle, *whole[cycle]);
        CHECK(*tiles[cycle] <= machine.weight_fifo.depth_tiles);
        CHECK(*whole[cycle] <= *tiles[cycle]);
    }
    for (const std::string queue :
         {"host_interface.read_queue", "host_interface.write_queue", "weight_fifo.queue",
          "systolic_data_setup.queue", "activation_unit.queue"}) {
        CAPTURE(queue);
        const auto depths = waves.by_cycle(queue);
        CHECK(*std::max_element(depths.begin(), depths.end()) <= machine.sequencer.queue_depth);
    }
}

/// A number stands beside a flag, is driven where the flag is 1, and lies below a limit.
void check_numbers(const ReadVcd& waves, const isa::Program& program, const machine::MachineConfig& machine) {
    struct Numbered {
        std::string flag, number;
        std::uint64_t limit;
    };
    const std::uint64_t buffer_rows = machine.unified_buffer.rows;
    const std::uint64_t accumulator_rows = machine.accumulators.rows;
    const std::uint64_t instructions = program.instructions.size();
    const std::vector<Numbered> all{
        {"sequencer.issue", "sequencer.instruction", instructions},
        {"host_interface.read", "host_interface.read_instruction", instructions},
        {"host_interface.write", "host_interface.write_instruction", instructions},
        {"unified_buffer.host_in", "unified_buffer.host_in_row", buffer_rows},
        {"unified_buffer.host_out", "unified_buffer.host_out_row", buffer_rows},
        {"unified_buffer.setup_read", "unified_buffer.setup_read_row", buffer_rows},
        {"unified_buffer.setup_read", "matrix_unit.instruction", instructions},
        {"unified_buffer.setup_read", "matrix_unit.tile", program.tiles.size()},
        {"unified_buffer.activation_read", "unified_buffer.activation_read_row", buffer_rows},
        {"unified_buffer.activation_write", "unified_buffer.activation_write_row", buffer_rows},
        {"weight_memory.fetch", "weight_memory.tile", program.tiles.size()},
        {"matrix_unit.shift", "matrix_unit.shift_tile", program.tiles.size()},
        {"accumulators.write", "accumulators.write_row", accumulator_rows},
        {"accumulators.read", "accumulators.read_row", accumulator_rows},
        {"activation_unit.busy", "activation_unit.instruction", instructions}};
    for (const Numbered& each : all) {
        CAPTURE(each.number);
        const auto flags = waves.by_cycle(each.flag);
        const auto numbers = waves.by_cycle(each.number);
        std::size_t wrong = 0;
        for (std::size_t cycle = 0; cycle < flags.size(); ++cycle) {
            const bool is_right =
                *flags[cycle] == 1 ? numbers[cycle] && *numbers[cycle] < each.limit : !numbers[cycle];
            wrong += is_right ? 0 : 1;
        }
        CHECK(wrong == 0);
    }
}

/// Footprints by instruction.
std::map<hw::InstructionNumber, isa::Footprint> footprints_of(const isa::Program& program) {
    std::map<hw::InstructionNumber, isa::Footprint> footprints;
    isa::Registers registers;
    for (hw::InstructionNumber number = 0; number < program.instructions.size(); ++number) {
        const isa::Instruction& instruction = program.instructions[number];
        if (const auto* set = std::get_if<isa::SetConfig>(&instruction)) registers.set(set->reg, set->value);
        if (isa::queue_of(instruction)) {
            footprints[number] = isa::footprint(instruction, registers, program);
        }
    }
    return footprints;
}

std::size_t cycles_outside(const std::vector<ReadVcd::Value>& rows, Cycle begin, Cycle end,
                           std::initializer_list<isa::RowRange> ranges) {
    std::size_t outside = 0;
    for (Cycle cycle = begin; cycle < std::min<Cycle>(end, rows.size()); ++cycle) {
        const bool is_inside = std::any_of(ranges.begin(), ranges.end(), [&](const isa::RowRange& range) {
            return rows[cycle] && *rows[cycle] >= range.first && *rows[cycle] < range.last;
        });
        outside += is_inside ? 0 : 1;
    }
    return outside;
}

void check_rows(const ReadVcd& waves, const isa::Program& program, const hw::System& system,
                const WaveListener& heard) {
    const auto footprints = footprints_of(program);
    const auto setup_reads = waves.by_cycle("unified_buffer.setup_read_row");
    const auto sums_written = waves.by_cycle("accumulators.write_row");
    CHECK(waves.count("accumulators.write") == system.counter("accumulators.pass_writes").value());
    for (const hw::StreamTimes& stream : heard.streams) {
        CAPTURE(stream.number);
        const isa::Footprint& rows = footprints.at(stream.number);
        const Cycle span = stream.lines * stream.line_cycles;
        CHECK(cycles_outside(setup_reads, stream.begun, stream.begun + span,
                             {rows.read_rows(isa::MemoryId::UnifiedBuffer)}) == 0);
        // Each row in as many cycles as it has passes, from the first to the last.
        for (std::uint64_t row = 0; row < stream.lines * stream.line_rows; ++row) {
            const Cycle line = stream.summed - 1 + row / stream.line_rows * stream.line_cycles;
            const Cycle first = line + row % stream.line_rows * stream.passes;
            for (Cycle cycle = first; cycle < first + stream.passes; ++cycle) {
                REQUIRE(sums_written.at(cycle) == stream.accumulator_row + row);
            }
        }
    }
    const auto reads = waves.by_cycle("unified_buffer.activation_read_row");
    const auto writes = waves.by_cycle("unified_buffer.activation_write_row");
    const auto sums_read = waves.by_cycle("accumulators.read_row");
    for (const hw::InstructionTimes& times : heard.instructions) {
        if (times.unit != static_cast<std::size_t>(isa::QueueId::Activation)) continue;
        CAPTURE(times.number);
        const isa::Footprint& rows = footprints.at(times.number);
        const Cycle latency = times.complete - times.released;
        const bool activates = std::holds_alternative<isa::Activate>(program.instructions[times.number]);
        CHECK(cycles_outside(reads, times.begun, activates ? times.loaded : times.released,
                             {rows.read_rows(isa::MemoryId::UnifiedBuffer),
                              rows.read_rows(isa::MemoryId::UnifiedBuffer, 1)}) == 0);
        CHECK(cycles_outside(writes, times.loaded + latency, times.complete,
                             {rows.written_rows(isa::MemoryId::UnifiedBuffer)}) == 0);
        if (times.loaded == times.released) continue;  // it only loads
        CHECK(writes.at(times.loaded + latency) == rows.written_rows(isa::MemoryId::UnifiedBuffer).first);
        if (!activates) continue;
        const isa::RowRange sums = rows.read_rows(isa::MemoryId::Accumulators);
        CHECK(cycles_outside(sums_read, times.loaded, times.released, {sums}) == 0);
        CHECK(sums_read.at(times.loaded) == sums.first);
        CHECK(sums_read.at(times.released - 1) == sums.last - 1);
    }
}

void check_registers(const ReadVcd& waves, const machine::MachineConfig& machine, const WaveListener& heard) {
    const std::size_t row = machine.matrix_unit.rows - 1;
    const std::size_t column = machine.matrix_unit.columns - 1;
    const std::size_t place = row * machine.matrix_unit.columns + column;
    const std::string scope = fmt::format("matrix_unit.pe_{}_{}.", row, column);
    for (const auto& [cycle, registers] : heard.registers) {
        if (cycle >= waves.end_cycle()) continue;
        CAPTURE(cycle);
        REQUIRE(waves.at(scope + "activation", cycle) ==
                static_cast<std::uint16_t>(registers.activations[place]));
        REQUIRE(waves.at(scope + "weight", cycle) == static_cast<std::uint16_t>(registers.weights[place]));
        REQUIRE(waves.at(scope + "shadow_weight", cycle) ==
                static_cast<std::uint16_t>(registers.shadow_weights[place]));
        REQUIRE(waves.at(scope + "partial_sum", cycle) ==
                static_cast<std::uint32_t>(registers.partial_sums[place]));
    }
}

/// The cycles of a window show what they show in the whole; before it, nobody drives anything.
void check_window(const ReadVcd& part, const ReadVcd& whole, Cycle from, Cycle to) {
    CHECK(part.end_cycle() == std::min(to, whole.end_cycle()));
    CHECK(part.signals.size() == whole.signals.size());
    for (const auto& [name, signal] : whole.signals) {
        CAPTURE(name);
        const std::string inside = name.substr(name.find('.') + 1);
        const auto shown = part.by_cycle(inside);
        const auto values = whole.by_cycle(inside);
        for (std::size_t cycle = 0; cycle < shown.size(); ++cycle) {
            CAPTURE(cycle);
            REQUIRE(shown[cycle] == (cycle < from ? std::nullopt : values[cycle]));
        }
    }
}

std::vector<std::string> last_cell(const machine::MachineConfig& machine) {
    return {fmt::format("{},{}", machine.matrix_unit.rows - 1, machine.matrix_unit.columns - 1)};
}

}  // namespace

TEST_CASE("Random runs: waves agree with counters, footprints and registers in each cycle", "[waves]") {
    constexpr std::uint64_t first_seed = 6100;
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(40); ++seed) {
        CAPTURE(seed);
        tests::Choices choices(seed);
        tests::Case random = tests::random_case(choices);
        const isa::Program program = tests::synchronized(random);

        random.machine.matrix_unit.engine = machine::Engine::Wavefront;
        const Folder whole;
        run_with_waves(program, random.machine, {.kinds = {"waves"}}, whole,
                       [&](const hw::System& system, const WaveListener& heard) {
                           const ReadVcd waves = read_waves(whole);
                           CHECK(waves.timescale == "100 ps");
                           REQUIRE(waves.end_cycle() == system.cycles());
                           tests::check_states(waves, system);
                           check_units(waves, system, random.machine, heard);
                           check_numbers(waves, program, random.machine);
                           check_rows(waves, program, system, heard);
                       });

        // The other engine, with registers and without.
        random.machine.matrix_unit.engine = machine::Engine::Pe;
        const Folder same;
        run_with_waves(program, random.machine, {.kinds = {"waves"}}, same,
                       [](const hw::System&, const WaveListener&) {});
        CHECK(tests::waves_without_date(same / trace::waves_file) ==
              tests::waves_without_date(whole / trace::waves_file));
        const Folder cells;
        Cycle cycles = 0;
        run_with_waves(program, random.machine,
                       {.kinds = {"waves"}, .processing_elements = last_cell(random.machine)}, cells,
                       [&](const hw::System& system, const WaveListener& heard) {
                           cycles = system.cycles();
                           check_registers(read_waves(cells), random.machine, heard);
                       });

        const Folder part;
        trace::TraceConfig window{.kinds = {"waves"}, .processing_elements = last_cell(random.machine)};
        window.from = choices.from(0, cycles - 1);
        window.to = window.from + choices.from(1, cycles);
        run_with_waves(program, random.machine, window, part, [](const hw::System&, const WaveListener&) {});
        check_window(read_waves(part), read_waves(cells), window.from, window.to);
    }
}
