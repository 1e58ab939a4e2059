// Waves of random programs on random machines, read back: in every cycle they say what the counters, the
// footprints and the registers say.
#include "sim/view/trace/waves.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hw/common/fan_out.h"
#include "hw/core/core.h"
#include "hw/isa/assembly.h"
#include "hw/isa/footprint.h"
#include "hw/machine/config_error.h"
#include "sim/view/trace/output_file.h"
#include "sim/view/trace/tracer.h"
#include "sim/view/trace/wave_player.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_program/random_case.h"
#include "tests/support/random_program/synchronize.h"
#include "tests/support/random_runs.h"
#include "tests/support/vcd.h"

using namespace systole;
using tests::Folder;
using tests::ReadVcd;

namespace {

/// A run's events and registers, as they were told.
struct WaveListener final : hw::TraceListener, hw::RegisterSink {
    struct Registers {
        std::vector<std::int16_t> activations, weights, shadow_weights;
        std::vector<std::int32_t> partial_sums;
    };

    void instruction(const hw::InstructionTimes& times) override { instructions.push_back(times); }
    void issued(const hw::IssueTimes& times) override { last_issue = times.issued; }
    void stream(const hw::StreamTimes& times) override { streams.push_back(times); }
    void cycle(Cycle cycle, const hw::ArrayRegisters& now) override {
        registers[cycle] = {{now.activations.begin(), now.activations.end()},
                            {now.weights.begin(), now.weights.end()},
                            {now.shadow_weights.begin(), now.shadow_weights.end()},
                            {now.partial_sums.begin(), now.partial_sums.end()}};
    }

    std::vector<hw::InstructionTimes> instructions;
    std::vector<hw::StreamTimes> streams;
    Cycle last_issue = 0;
    std::map<Cycle, Registers> registers;
};

/// The text of a file of waves but for the line with the date.
std::string waves_without_date(const std::filesystem::path& path) {
    std::string text = tests::text_in(path);
    const std::size_t begin = text.find("$date");
    const std::size_t end = text.find("$end", begin);
    REQUIRE(end != std::string::npos);
    return text.erase(begin, end - begin);
}

ReadVcd read_waves(const Folder& folder) {
    return tests::read_vcd(tests::text_in(folder / trace::waves_file));
}

template <class Check>
void run_with_waves(const isa::Program& program, const machine::MachineConfig& machine,
                    const trace::TraceConfig& config, const Folder& folder, const Check& check) {
    const tests::FreshSimulation simulation;
    WaveListener listener;
    trace::Tracer tracer(config, program, machine, folder.path());
    hw::TraceFanOut all;
    all.add(&listener);
    all.add(tracer.sink());
    hw::RegisterFanOut registers;
    registers.add(&listener);
    registers.add(tracer.registers());
    hw::Core core("core", machine, program,
                  {.trace = all.sink(), .registers = registers.sink(), .test_delta_delay = {}});
    core.run();
    tracer.finish(core.cycles(), {});
    check(core, listener);
}

void check_states(const ReadVcd& waves, const hw::Core& core) {
    for (const std::string state : {"active", "weight_stall", "weight_shift", "non_matrix", "raw_stall",
                                    "input_stall", "setup_stall", "port_stall"}) {
        CAPTURE(state);
        CHECK(waves.count("matrix_unit." + state) ==
              core.counter("matrix_unit." + state + "_cycles").value());
    }
    std::vector<std::uint64_t> states_in(core.cycles());
    for (const std::string state : {"active", "weight_stall", "weight_shift", "non_matrix"}) {
        const auto values = waves.by_cycle("matrix_unit." + state);
        REQUIRE(values.size() == states_in.size());
        for (std::size_t cycle = 0; cycle < values.size(); ++cycle) states_in[cycle] += *values[cycle];
    }
    CHECK(std::all_of(states_in.begin(), states_in.end(), [](std::uint64_t count) { return count == 1; }));
}

void check_units(const ReadVcd& waves, const hw::Core& core, const machine::MachineConfig& machine,
                 const WaveListener& heard) {
    CHECK(waves.count("activation_unit.busy") == core.counter("activation_unit.busy_cycles").value());
    CHECK(waves.count("host_interface.read") == core.counter("host_read.busy_cycles").value());
    CHECK(waves.count("host_interface.write") == core.counter("host_write.busy_cycles").value());
    CHECK(waves.count("sequencer.empty") == core.counter("sequencer.empty_cycles").value());
    CHECK(waves.count("sequencer.queue_full") == core.counter("sequencer.queue_full_cycles").value());
    if (machine.sequencer.issue_cycles > 0) {
        // A halt that nobody waits for is issued in the cycle of the end, which is none of the run's.
        const std::uint64_t at_end = heard.last_issue == core.cycles() ? 1 : 0;
        CHECK(waves.count("sequencer.issue") + at_end == core.counter("sequencer.instructions").value());
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
        if (isa::unit_of(instruction)) {
            footprints[number] = isa::footprint(instruction, registers, program.geometry);
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

/// The cycle in which the last sum of a stream is written.
Cycle last_sum_of(const hw::StreamTimes& stream) {
    return stream.summed + (stream.lines - 1) * stream.line_cycles + stream.line_rows * stream.passes - 1;
}

void check_rows(const ReadVcd& waves, const isa::Program& program, const hw::Core& core,
                const WaveListener& heard) {
    const auto footprints = footprints_of(program);
    const auto setup_reads = waves.by_cycle("unified_buffer.setup_read_row");
    auto sums_written = waves.by_cycle("accumulators.write_row");
    // Where the program ends with a product, its last sums are there in the cycle of the end.
    std::uint64_t shown = waves.count("accumulators.write");
    const Cycle last_sum = heard.streams.empty() ? 0 : last_sum_of(heard.streams.back());
    if (last_sum == core.cycles() && !heard.streams.empty()) {
        const hw::StreamTimes& last = heard.streams.back();
        sums_written.emplace_back(last.accumulator_row + last.lines * last.line_rows - 1);
        ++shown;
    }
    CHECK(shown == core.counter("accumulators.pass_writes").value());
    for (const hw::StreamTimes& stream : heard.streams) {
        CAPTURE(stream.number);
        const isa::Footprint& rows = footprints.at(stream.number);
        const Cycle span = stream.lines * stream.line_cycles;
        CHECK(cycles_outside(setup_reads, stream.begun, stream.begun + span, {rows.buffer_read}) == 0);
        // Each row in as many cycles as it has passes, from the first to the last.
        for (std::uint64_t row = 0; row < stream.lines * stream.line_rows; ++row) {
            const Cycle line = stream.summed + row / stream.line_rows * stream.line_cycles;
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
        if (times.unit != static_cast<std::size_t>(isa::Unit::Activation)) continue;
        CAPTURE(times.number);
        const isa::Footprint& rows = footprints.at(times.number);
        const Cycle latency = times.complete - times.released;
        const bool activates = std::holds_alternative<isa::Activate>(program.instructions[times.number]);
        CHECK(cycles_outside(reads, times.begun, activates ? times.loaded : times.released,
                             {rows.buffer_read, rows.buffer_read_other, rows.buffer_read_table}) == 0);
        CHECK(cycles_outside(writes, times.loaded + latency, times.complete, {rows.buffer_write}) == 0);
        CHECK(writes.at(times.loaded + latency) == rows.buffer_write.first);
        if (!activates) continue;
        CHECK(cycles_outside(sums_read, times.loaded, times.released, {rows.accumulator_read}) == 0);
        CHECK(sums_read.at(times.loaded) == rows.accumulator_read.first);
        CHECK(sums_read.at(times.released - 1) == rows.accumulator_read.last - 1);
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
                       [&](const hw::Core& core, const WaveListener& heard) {
                           const ReadVcd waves = read_waves(whole);
                           CHECK(waves.timescale == "100 ps");
                           REQUIRE(waves.end_cycle() == core.cycles());
                           check_states(waves, core);
                           check_units(waves, core, random.machine, heard);
                           check_numbers(waves, program, random.machine);
                           check_rows(waves, program, core, heard);
                       });

        // The other engine, with registers and without.
        random.machine.matrix_unit.engine = machine::Engine::Pe;
        const Folder same;
        run_with_waves(program, random.machine, {.kinds = {"waves"}}, same,
                       [](const hw::Core&, const WaveListener&) {});
        CHECK(waves_without_date(same / trace::waves_file) == waves_without_date(whole / trace::waves_file));
        const Folder cells;
        Cycle cycles = 0;
        run_with_waves(program, random.machine,
                       {.kinds = {"waves"}, .processing_elements = last_cell(random.machine)}, cells,
                       [&](const hw::Core& core, const WaveListener& heard) {
                           cycles = core.cycles();
                           check_registers(read_waves(cells), random.machine, heard);
                       });

        const Folder part;
        trace::TraceConfig window{.kinds = {"waves"}, .processing_elements = last_cell(random.machine)};
        window.from = choices.from(0, cycles - 1);
        window.to = window.from + choices.from(1, cycles);
        run_with_waves(program, random.machine, window, part, [](const hw::Core&, const WaveListener&) {});
        check_window(read_waves(part), read_waves(cells), window.from, window.to);
    }
}

namespace {

machine::MachineConfig four_by_three() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 4;
    machine.matrix_unit.columns = 3;
    return machine;
}

/// A signal in the cycles [begin, end), a character each: `.` is not driven.
std::string drawn(const ReadVcd& waves, const std::string& name, Cycle begin, Cycle end) {
    std::string text;
    for (Cycle cycle = begin; cycle < end; ++cycle) {
        const ReadVcd::Value value = waves.at(name, cycle);
        text += value ? fmt::format("{:X}", *value) : ".";
    }
    return text;
}

}  // namespace

// The second example of docs/timing.md, rule 8, whose table shows when what happens.
TEST_CASE("Stalls, shifts and streams are in the cycles of docs/timing.md", "[waves]") {
    machine::MachineConfig machine = four_by_three();
    machine.weight_memory.bandwidth_gb_per_s = 0.7;
    machine.host_interface.read_gb_per_s = 7;
    machine.host_interface.latency_cycles = 7;
    const isa::Program program = isa::assemble(
        ".array 4 3\n.buffer in input 0 80\n.tile 4 3 random 1\n.tile 4 3 random 2\n.tile 4 3 random 3\n"
        "read_weights tile=0\nread_weights tile=2\nread_weights tile=1\n"
        "read_host in ub=0 block=80\nsync.signal host_read sem=0\nsync.wait matrix sem=0\n"
        "matmul ub=0 acc=0 rows=3\nmatmul ub=3 acc=3 rows=10\nmatmul ub=13 acc=13 rows=7\nhalt\n",
        "test");
    const Folder folder;
    run_with_waves(program, machine, {.kinds = {"waves"}}, folder,
                   [](const hw::Core&, const WaveListener&) {});
    const ReadVcd waves = read_waves(folder);
    const std::string classes = "NNNNNNNNNNNNNNNNNNNNNNNNNAAAWWWSSSSAAAAAAAAAASSAAAAAAANNNNNNN";
    const std::map<std::string, char> letters{
        {"active", 'A'}, {"weight_stall", 'W'}, {"weight_shift", 'S'}, {"non_matrix", 'N'}};
    REQUIRE(waves.end_cycle() == classes.size());
    for (const auto& [state, letter] : letters) {
        std::string expected;
        for (const char each : classes) expected += each == letter ? '1' : '0';
        CHECK(drawn(waves, "matrix_unit." + state, 0, classes.size()) == expected);
    }
    // From the first row of product A to the last of product C; tiles as the program names them.
    const auto row = [&](const std::string& name) { return drawn(waves, name, 25, 54); };
    CHECK(row("unified_buffer.setup_read_row") == "012.......3456789ABC..DEF10111213");
    CHECK(row("matrix_unit.tile") == "000.......2222222222..1111111");
    CHECK(row("matrix_unit.instruction") == "666.......7777777777..8888888");
    CHECK(row("weight_fifo.tiles") == "22222222221111111111110000000");
    CHECK(row("weight_fifo.whole") == "00000011110000000011110000000");
    CHECK(drawn(waves, "matrix_unit.shift_tile", 18, 48) == ".0000........2222........1111.");
    CHECK(drawn(waves, "accumulators.write_row", 32, 37) == ".012.");
    CHECK(drawn(waves, "unified_buffer.host_in", 16, 27) == "01111111100");
    CHECK(drawn(waves, "matrix_unit.input_stall", 22, 27) == "11100");
}

// Rows 3 apart that take two passes each; results that do not fill rows; two operands.
TEST_CASE("Row signals follow the rows that pass through a port", "[waves]") {
    const isa::Program program = isa::assemble(
        ".array 2 2\n.tile 2 2 fill 1\nset multiply.row_stride 3\n"
        "set activation.columns 2\nset activation.pixel_bytes 3\nset activation.outputs_per_image 2\n"
        "set activation.image_rows 16\nset activation.parameters_row 30\n"
        "read_weights tile=0\nmatmul ub=1 acc=5 rows=3 wide_a\n"
        "sync.signal matrix sem=0\nsync.wait activation sem=0\n"
        "activate acc=5 ub=32 rows=3 first=0 identity load\n"
        "vector add dst=2 src=64 other=80 rows=2\nhalt\n",
        "test");
    machine::MachineConfig machine;
    machine.matrix_unit.rows = machine.matrix_unit.columns = 2;
    machine.activation_unit.latency_cycles = 3;
    const Folder folder;
    run_with_waves(
        program, machine, {.kinds = {"waves"}}, folder, [&](const hw::Core& core, const WaveListener& heard) {
            const ReadVcd waves = read_waves(folder);
            check_states(waves, core);
            const auto row = [&](const std::string& name, Cycle begin, Cycle cycles) {
                return drawn(waves, name, begin, begin + cycles);
            };
            const hw::StreamTimes& stream = heard.streams.at(0);
            CHECK(row("unified_buffer.setup_read_row", stream.begun, 7) == "114477.");
            CHECK(row("accumulators.write_row", stream.summed, 7) == "556677.");
            const auto activation = [&](hw::InstructionNumber number) {
                for (const hw::InstructionTimes& times : heard.instructions) {
                    if (times.number == number) return times;
                }
                throw std::out_of_range("no such instruction");
            };
            // 18 bytes of parameters; two pixels of an image are 3 bytes apart, in rows of 2.
            const hw::InstructionTimes activate = activation(10);
            CHECK(activate.loaded - activate.begun == 9);
            CHECK(row("unified_buffer.activation_read_row", activate.begun, 9) == "1E1F20212223242526");
            CHECK(row("activation_unit.load", activate.begun, 12) == "111111111000");
            CHECK(row("accumulators.read_row", activate.loaded, 3) == "567");
            CHECK(row("unified_buffer.activation_write_row", activate.loaded + 3, 3) == "202130");
            // Two operands a row.
            const hw::InstructionTimes vector = activation(11);
            CHECK(row("unified_buffer.activation_read_row", vector.begun, 4) == "40404141");
            CHECK(row("unified_buffer.activation_write_row", vector.begun + 3, 4) == "2233");
        });
}

// By hand: [3 5] streamed against [1 2; -4 6], a row a cycle.
TEST_CASE("Registers of a processing element have their values at the end of a cycle", "[waves]") {
    const isa::Program program = isa::assemble(
        ".array 2 2\n.buffer in constant 0 2\n.int8 3 5\n.tile 2 2\n.int8 1 2 -4 6\n"
        "read_host in ub=0 block=2\nread_weights tile=0\nsync.signal host_read sem=0\n"
        "sync.wait matrix sem=0\nmatmul ub=0 acc=0 rows=1\nhalt\n",
        "test");
    machine::MachineConfig machine;
    machine.matrix_unit.rows = machine.matrix_unit.columns = 2;
    machine.matrix_unit.engine = machine::Engine::Pe;
    const Folder folder;
    Cycle begun = 0;
    run_with_waves(program, machine, {.kinds = {"waves"}, .processing_elements = {"0-1,0", "1,0-1"}}, folder,
                   [&](const hw::Core&, const WaveListener& heard) { begun = heard.streams.at(0).begun; });
    const ReadVcd waves = read_waves(folder);
    CHECK(waves.signals.count("tpu.matrix_unit.pe_0_1.weight") == 0);
    const Cycle met = begun + machine.matrix_unit.setup_cycles;
    const auto value = [&](const std::string& name, Cycle cycle) {
        return waves.at("matrix_unit.pe_" + name, cycle).value_or(99);
    };
    constexpr std::uint64_t minus_four = 0xFFFC;
    constexpr std::uint64_t minus_seventeen = 0xFFFFFFEF;
    // Cell 0,0 meets 3 and takes its weight; a cycle later cell 1,0 meets 5 and adds; then cell 1,1 does.
    CHECK(value("0_0.shadow_weight", met - 1) == 1);
    CHECK(value("0_0.weight", met - 1) == 0);
    CHECK(value("0_0.weight", met) == 1);
    CHECK(value("0_0.activation", met) == 3);
    CHECK(value("0_0.partial_sum", met) == 3);
    CHECK(value("1_0.weight", met) == 0);
    CHECK(value("1_0.weight", met + 1) == minus_four);
    CHECK(value("1_0.activation", met + 1) == 5);
    CHECK(value("1_0.partial_sum", met + 1) == minus_seventeen);
    CHECK(value("1_1.weight", met + 2) == 6);
    CHECK(value("1_1.partial_sum", met + 2) == 2 * 3 + 6 * 5);
}

namespace {

const std::string one_product =
    ".array 4 3\n.tile 4 3 fill 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=2\nhalt\n";

/// What is wrong with these waves, before the run or while it goes on.
std::string waves_error(const trace::TraceConfig& config, const machine::MachineConfig& machine) {
    const Folder folder;
    const isa::Program program = isa::assemble(one_product, "test");
    try {
        run_with_waves(program, machine, config, folder, [](const hw::Core&, const WaveListener&) {});
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("Processing elements outside the array are errors", "[waves]") {
    machine::MachineConfig machine = four_by_three();
    const auto error = [&](const std::string& element) {
        return waves_error({.kinds = {"waves"}, .processing_elements = {"0,0", element}}, machine);
    };
    CHECK(error("0,1") ==
          "trace.processing_elements is \"0,0\"; the machine's engine has no registers to show; --set "
          "machine.matrix_unit.engine=pe does");
    machine.matrix_unit.engine = machine::Engine::Pe;
    CHECK(error("3,2").empty());
    CHECK(error("4,2") == "trace.processing_elements is \"4,2\"; the array has 4 rows, numbered from 0 to 3");
    CHECK(error("0,0-3") ==
          "trace.processing_elements is \"0,0-3\"; the array has 3 columns, numbered from 0 to 2");
    CHECK(error("2-1,0") ==
          "trace.processing_elements is \"2-1,0\"; the last of a range is before its first");
    for (const char* text : {"1", "", "1,", ",1", "a,b", "1,2,3", "-1,0", "1x0", " 1,0"}) {
        CAPTURE(text);
        CHECK_THAT(error(text), Catch::Contains("it must be ROW,COLUMN, as in 0,3"));
    }
    machine.matrix_unit.rows = 64;
    machine.matrix_unit.columns = 64;
    CHECK_THAT(error("0-63,0-63"), Catch::Contains("that makes more than 1024 elements"));
}

TEST_CASE("A window wider than the limit of waves is an error, before or during the run", "[waves]") {
    machine::MachineConfig machine = four_by_three();
    constexpr Cycle most = trace::Waves::most_cycles;
    CHECK(waves_error({.kinds = {"waves"}, .from = 7, .to = 8 + most}, machine) ==
          fmt::format("trace.to is {}; waves show {} cycles at most, and trace.from is 7", 8 + most, most));
    CHECK(waves_error({.kinds = {"waves"}, .from = 7, .to = 7 + most}, machine).empty());
    // The product waits for its weights as long as waves last.
    machine.weight_memory.latency_cycles = most;
    CHECK(waves_error({.kinds = {"waves"}}, machine) ==
          fmt::format("trace.to is missing; the run takes more than {} cycles, which is what waves show at "
                      "most: give trace.from and trace.to",
                      most));
    CHECK(waves_error({.kinds = {"waves"}, .from = most - 10}, machine).empty());
    CHECK(waves_error({.kinds = {"waves"}, .to = 100}, machine).empty());
}

TEST_CASE("Registers that exceed the memory limit of waves are an error", "[waves]") {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = machine.matrix_unit.columns = 32;
    machine.matrix_unit.engine = machine::Engine::Pe;
    const Folder folder;
    // Rows that differ, again and again: every sum changes in every cycle.
    std::string text =
        ".array 32 32\n.buffer in constant 0 65536 random 3\n.tile 32 32 random 1\n"
        "read_weights tile=0\nread_host in ub=0 block=65536\nsync.signal host_read sem=0\n"
        "sync.wait matrix sem=0\nmatmul ub=0 acc=0 rows=2048\n";
    for (int i = 0; i < 20; ++i) text += "matmul ub=0 acc=0 rows=2048 keep\n";
    const isa::Program program = isa::assemble(text + "halt\n", "test");
    CHECK_THROWS_WITH(
        run_with_waves(program, machine, {.kinds = {"waves"}, .processing_elements = {"0-31,0-31"}}, folder,
                       [](const hw::Core&, const WaveListener&) {}),
        Catch::Contains("takes more than 268435456 bytes: ask for fewer cycles"));
}

TEST_CASE("A run that fails leaves waves up to the failure", "[waves]") {
    const Folder folder;
    const isa::Program program = isa::assemble(
        ".array 4 3\n.tile 4 3 fill 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=2\n"
        "sync.wait matrix sem=0\nmatmul ub=0 acc=0 rows=2\nhalt\n",
        "test");
    {
        const tests::FreshSimulation simulation;
        const machine::MachineConfig machine = four_by_three();
        trace::Tracer tracer({.kinds = {"waves"}}, program, machine, folder.path());
        hw::Core core("core", machine, program, {.trace = tracer.sink(), .test_delta_delay = {}});
        CHECK_THROWS(core.run());
    }
    const ReadVcd waves = read_waves(folder);
    CHECK(waves.end_cycle() > 0);
    CHECK(waves.count("matrix_unit.shift") == 4);
}

TEST_CASE("Waves can be combined with other traces, but not with layers", "[waves]") {
    const Folder folder;
    const isa::Program program = isa::assemble(one_product, "test");
    run_with_waves(program, four_by_three(), {.kinds = {"csv", "waves"}}, folder,
                   [](const hw::Core&, const WaveListener&) {});
    CHECK(read_waves(folder).count("matrix_unit.active") == 2);
    CHECK(tests::text_in(folder / trace::csv_file).find("matmul") != std::string::npos);

    trace::TraceConfig config{.kinds = {"timeline", "waves"}, .layers = {"conv"}};
    CHECK_THROWS_WITH(
        config.validate("run.json"),
        "run.json: trace.layers is \"conv\"; waves show units, which work for several layers at "
        "once; give trace.from and trace.to");
    config = {.kinds = {"csv"}, .processing_elements = {"0,0"}};
    CHECK_THROWS_WITH(config.validate("run.json"),
                      "run.json: trace.processing_elements is \"0,0\"; waves show registers; give \"waves\" "
                      "among trace.kinds");
}

TEST_CASE("A file of waves that cannot be created or completed is an error", "[waves]") {
    const isa::Program program = isa::assemble(one_product, "test");
    const machine::MachineConfig machine = four_by_three();
    const Folder folder;
    std::filesystem::create_directories(folder / trace::waves_file);
    CHECK_THROWS_AS(trace::Tracer({.kinds = {"waves"}}, program, machine, folder.path()), trace::TraceError);
    // A device on which there is never any space.
    std::filesystem::create_symlink("/dev/full", folder / "full.vcd");
    CHECK_THROWS_WITH(trace::play({}, 0, 5, folder / "full.vcd"), Catch::Contains("cannot be written whole"));
}
