// Waves of small programs whose cycles are known, and errors of waves.
#include "sim/view/trace/waves.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <stdexcept>
#include <string>

#include "hw/isa/assembly.h"
#include "hw/machine/config_error.h"
#include "hw/system/system.h"
#include "sim/view/trace/output_file.h"
#include "sim/view/trace/tracer.h"
#include "sim/view/trace/wave_player.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/vcd.h"
#include "tests/unit/sim/view/trace/wave_run.h"

using namespace systole;
using tests::Folder;
using tests::read_waves;
using tests::ReadVcd;
using tests::run_with_waves;
using tests::WaveListener;

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

// The second example of docs/timing.md, rule 8, with the cycles of its table.
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
                   [](const hw::System&, const WaveListener&) {});
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
    CHECK(drawn(waves, "accumulators.write_row", 31, 36) == ".012.");
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
        program, machine, {.kinds = {"waves"}}, folder,
        [&](const hw::System& system, const WaveListener& heard) {
            const ReadVcd waves = read_waves(folder);
            tests::check_states(waves, system);
            const auto row = [&](const std::string& name, Cycle begin, Cycle cycles) {
                return drawn(waves, name, begin, begin + cycles);
            };
            const hw::StreamTimes& stream = heard.streams.at(0);
            CHECK(row("unified_buffer.setup_read_row", stream.begun, 7) == "114477.");
            CHECK(row("accumulators.write_row", stream.summed - 1, 7) == "556677.");
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

TEST_CASE("A write is shown in the last cycle before its rows can be read, in every memory", "[waves]") {
    const isa::Program program = isa::assemble(
        ".array 4 3\n.buffer in input 0 12\n.tile 4 3 fill 1\n"
        "set activation.columns 3\nset activation.pixel_bytes 4\nset activation.outputs_per_image 3\n"
        "set activation.parameters_row 40\n"
        "read_weights tile=0\nread_host in ub=0 block=12\nsync.signal host_read sem=0\n"
        "sync.wait matrix sem=0\nmatmul ub=0 acc=5 rows=3\nsync.signal matrix sem=1\n"
        "sync.wait activation sem=1\nactivate acc=5 ub=32 rows=3 load\nhalt\n",
        "test");
    machine::MachineConfig machine = four_by_three();
    machine.activation_unit.latency_cycles = 5;
    const Folder folder;
    std::map<hw::InstructionNumber, Cycle> complete;
    run_with_waves(program, machine, {.kinds = {"waves"}}, folder,
                   [&](const hw::System&, const WaveListener& heard) {
                       for (const hw::InstructionTimes& times : heard.instructions) {
                           complete[times.number] = times.complete;
                       }
                   });
    const ReadVcd waves = read_waves(folder);
    // The write of the last row, and then none.
    const auto check_last_write = [&](const std::string& port, hw::InstructionNumber number) {
        CAPTURE(port);
        CHECK(waves.at(port, complete.at(number) - 1) == 1);
        if (complete.at(number) < waves.end_cycle()) CHECK(waves.at(port, complete.at(number)) == 0);
    };
    check_last_write("unified_buffer.host_in", 5);
    check_last_write("accumulators.write", 8);
    check_last_write("unified_buffer.activation_write", 11);
    CHECK(waves.at("accumulators.write_row", complete.at(8) - 1) == 7);
    CHECK(waves.at("unified_buffer.activation_write_row", complete.at(11) - 1) == 34);
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
                   [&](const hw::System&, const WaveListener& heard) { begun = heard.streams.at(0).begun; });
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

/// The message of the error before or during a run with these waves; empty if there is none.
std::string waves_error(const trace::TraceConfig& config, const machine::MachineConfig& machine) {
    const Folder folder;
    const isa::Program program = isa::assemble(one_product, "test");
    try {
        run_with_waves(program, machine, config, folder, [](const hw::System&, const WaveListener&) {});
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
          "trace.processing_elements is \"0,0\"; the machine's engine has no registers; choose another "
          "with --set machine.matrix_unit.engine=pe");
    machine.matrix_unit.engine = machine::Engine::Pe;
    CHECK(error("3,2").empty());
    CHECK(error("4,2") == "trace.processing_elements is \"4,2\"; the array has 4 rows, numbered from 0 to 3");
    CHECK(error("0,0-3") ==
          "trace.processing_elements is \"0,0-3\"; the array has 3 columns, numbered from 0 to 2");
    CHECK(error("2-1,0") ==
          "trace.processing_elements is \"2-1,0\"; the end of a range is before its beginning");
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
          fmt::format("trace.to is missing; the run takes more than {} cycles, which is the limit of waves: "
                      "give trace.from and trace.to",
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
                       [](const hw::System&, const WaveListener&) {}),
        Catch::Contains("take more than 268435456 bytes: give fewer cycles"));
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
        hw::System system("system", machine, program, {.trace = tracer.sink(), .test_delta_delay = {}});
        CHECK_THROWS(system.run());
    }
    const ReadVcd waves = read_waves(folder);
    CHECK(waves.end_cycle() > 0);
    CHECK(waves.count("matrix_unit.shift") == 4);
}

TEST_CASE("Waves can be combined with other traces, but not with layers", "[waves]") {
    const Folder folder;
    const isa::Program program = isa::assemble(one_product, "test");
    run_with_waves(program, four_by_three(), {.kinds = {"csv", "waves"}}, folder,
                   [](const hw::System&, const WaveListener&) {});
    CHECK(read_waves(folder).count("matrix_unit.active") == 2);
    CHECK(tests::text_in(folder / trace::csv_file).find("matmul") != std::string::npos);

    trace::TraceConfig config{.kinds = {"timeline", "waves"}, .layers = {"conv"}};
    CHECK_THROWS_WITH(
        config.validate("run.json"),
        "run.json: trace.layers is \"conv\"; it does not apply to waves, as units work for several "
        "layers at once; give trace.from and trace.to");
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
    CHECK_THROWS_AS(trace::Tracer({.kinds = {"waves"}}, program, machine, folder.path()), OutputError);
    // A device on which there is never any space.
    std::filesystem::create_symlink("/dev/full", folder / "full.vcd");
    CHECK_THROWS_WITH(trace::play({}, 0, 5, folder / "full.vcd", "full.vcd"),
                      Catch::Contains("full.vcd: cannot be written completely"));
}
