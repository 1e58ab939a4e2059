// Traces of small programs: their contents, failures and errors.
#include "sim/view/trace/tracer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "hw/common/fan_out.h"
#include "hw/machine/config_error.h"
#include "hw/system/system.h"
#include "sim/run/execute/recorders.h"
#include "sim/view/energy/run_energy.h"
#include "tests/support/chip.h"
#include "tests/support/csv.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/timeline.h"
#include "tests/unit/sim/view/trace/traced_run.h"

using namespace systole;
using tests::all_kinds;
using tests::Folder;
using tests::instructions_run;
using tests::lines_of;
using tests::ReadTimeline;
using tests::run_traced;

namespace {

/// Two products by one tile and a third by another, of 4 rows each, after rows from the host.
const std::string products =
    ".array 8 8\n.layer first dense\n.layer second dense\n"
    ".buffer in constant 0 64 fill 3\n.tile 8 8 fill 1\n.tile 8 8 fill 2\n"
    "tag 1\nread_weights tile=0 count=2\nread_host in ub=0 block=64\n"
    "sync.signal host_read sem=0\nsync.wait matrix sem=0\n"
    "matmul ub=0 acc=0 rows=4\ntag 2\nmatmul ub=0 acc=4 rows=4 keep\nmatmul ub=4 acc=0 rows=4\nhalt\n";

machine::MachineConfig small_machine() {
    machine::MachineConfig machine;
    machine.name = "small";
    machine.matrix_unit.rows = machine.matrix_unit.columns = 8;
    machine.clock_mhz = 1000.0;
    machine.energy.emplace();
    machine.power = {.idle_watts = 2.0, .busy_watts = 3.0, .tdp_watts = 0};
    return machine;
}

}  // namespace

TEST_CASE("An arrow leads from a fetch to every multiply that uses its tile", "[trace]") {
    const Folder folder;
    const isa::Program program = isa::assemble(products, "test");
    run_traced(program, small_machine(), {{{.kinds = {"timeline"}}, folder.path()}},
               [](const hw::System&) {});
    const ReadTimeline timeline = tests::read_timeline(folder / trace::timeline_file);
    REQUIRE(timeline.flows.size() == 3);
    CHECK(tests::broken_flow(timeline).value_or("") == "");
    const auto& fetches = timeline.tracks.at("weight memory");
    REQUIRE(fetches.size() == 2);
    const auto begin_of = [&](std::uint64_t id) { return timeline.flows.at(id).front().at_ns; };
    CHECK(begin_of(1) == fetches[0].begin_ns);
    CHECK(begin_of(2) == fetches[0].begin_ns);  // keeps the tile
    CHECK(begin_of(3) == fetches[1].begin_ns);
    const auto& layers = timeline.tracks.at("layers");
    REQUIRE(layers.size() == 2);
    CHECK(layers[0].name == "first");
    CHECK(layers[1].name == "second");
    CHECK(layers[0].end == layers[1].begin);
    const auto& multiply = timeline.tracks.at("matrix unit").back();
    CHECK(multiply.name == "non_matrix");  // only the last sums are on their way
    CHECK(multiply.end == layers[1].end);
}

TEST_CASE("An instruction has waited since it was the first in its queue", "[trace]") {
    const Folder folder;
    const isa::Program program = isa::assemble(products, "test");
    run_traced(program, small_machine(), {{{.kinds = {"csv"}}, folder.path()}}, [](const hw::System&) {});
    std::map<std::string, std::map<std::string, std::uint64_t>> lines;
    for (const auto& line : tests::read_csv(tests::text_in(folder / trace::csv_file)).lines) {
        for (const char* column : {"issued", "begun", "released", "complete", "waited"}) {
            lines[line.at("instruction")][column] = std::stoull(line.at(column));
        }
    }
    auto& read = lines.at("read_host in ub=0 block=64");
    auto& signal = lines.at("sync.signal host_read sem=0");
    auto& wait = lines.at("sync.wait matrix sem=0");
    auto& first = lines.at("matmul ub=0 acc=0 rows=4");
    auto& second = lines.at("matmul ub=0 acc=4 rows=4 keep");
    CHECK(read.at("waited") == 0);
    // The signal is carried out when the unit could begin another instruction, and the wait is over when the
    // rows are there.
    CHECK(signal.at("begun") == read.at("released"));
    CHECK(signal.at("waited") == signal.at("begun") - signal.at("issued"));
    CHECK(wait.at("begun") == read.at("complete"));
    CHECK(wait.at("waited") == wait.at("begun") - wait.at("issued"));
    // Behind the wait in its queue; it was issued long before.
    CHECK(first.at("issued") < wait.at("begun"));
    CHECK(first.at("waited") == first.at("begun") - wait.at("begun"));
    // Taken by the data setup when the one before it had entered.
    CHECK(second.at("begun") == first.at("begun") + 4);
    CHECK(second.at("waited") == 4);
    CHECK(lines.at("halt").at("complete") > lines.at("halt").at("begun"));
}

TEST_CASE("The timeline shows power and the unified buffer's rows where they are known", "[trace]") {
    const tests::FreshSimulation simulation;
    const Folder folder;
    const machine::MachineConfig machine = small_machine();
    const isa::Program program = isa::assemble(products, "test");
    trace::Tracer tracer({.kinds = {"timeline"}}, program, machine, folder.path());
    run::ActivityRecorder recorder;
    hw::TraceFanOut all;
    all.add(&recorder);
    all.add(tracer.sink());
    hw::System system("system", machine, program, {.trace = all.sink(), .test_delta_delay = {}});
    system.run();
    constexpr std::uint32_t windows = 4;
    const run::Counters counters = run::counters_of(system);
    tracer.finish(system.cycles(), {.power = energy::power_over_time(
                                        energy::Consumers(system.descriptions(), counters, machine), machine,
                                        recorder.work(), system.cycles(), windows),
                                    .memories = {{{.track = "unified buffer",
                                                   .places = "rows",
                                                   .changes = {{10, 5}, {12, -2}, {20, 0}, {30, -3}}}}}});
    const ReadTimeline timeline = tests::read_timeline(folder / trace::timeline_file);
    CHECK(timeline.counters.at("power chip_static") == std::vector<std::int64_t>(windows, 2));
    CHECK(timeline.counters.at("power matrix_unit").size() == windows);
    CHECK(timeline.counters.at("unified buffer rows") == std::vector<std::int64_t>{5, 3, 0});
}

TEST_CASE("A run that fails leaves readable traces up to the failure", "[trace]") {
    const Folder folder;
    const isa::Program program = isa::assemble(
        ".array 8 8\n.tile 8 8 fill 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=4\n"
        "sync.wait matrix sem=0\nmatmul ub=0 acc=0 rows=4\nhalt\n",
        "test");
    {
        const tests::FreshSimulation simulation;
        trace::Tracer tracer({.kinds = all_kinds}, program, small_machine(), folder.path());
        hw::System system("system", small_machine(), program,
                          {.trace = tracer.sink(), .test_delta_delay = {}});
        CHECK_THROWS(system.run());
    }
    const ReadTimeline timeline = tests::read_timeline(folder / trace::timeline_file);
    CHECK(tests::overlap(timeline).value_or("") == "");
    const auto& streams = timeline.tracks.at("matrix unit");
    const auto& stream = *std::find_if(streams.begin(), streams.end(),
                                       [](const auto& slice) { return slice.args.contains("active"); });
    CHECK(stream.end - stream.begin == 4);
    CHECK(tests::read_csv(tests::text_in(folder / trace::csv_file)).lines.size() == 2);
    // The instruction that waits for ever is the last slice of its track.
    const auto& wait = timeline.tracks.at("matrix queue").back();
    CHECK(wait.name == "sync.wait");
    CHECK(wait.args.at("unfinished") == true);
    CHECK(wait.args.at("number") == 2);
    const auto& halt = timeline.tracks.at("sequencer").back();
    CHECK(halt.name == "halt");
    CHECK(halt.args.at("unfinished") == true);
    const auto& layers = timeline.tracks.at("layers");
    REQUIRE(layers.size() == 1);
    CHECK(layers[0].begin == 0);
    CHECK(layers[0].end >= stream.end);
}

TEST_CASE("A run that fails shows the unfinished work of its units and the counters", "[trace]") {
    const Folder folder;
    // The second multiply never gets a tile, so the signal after it waits for ever.
    const isa::Program program = isa::assemble(
        ".array 8 8\n.tile 8 8 fill 1\n.layer \"one\" dense\n.layer \"two\" dense\n"
        "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=4\ntag 2\nmatmul ub=0 acc=8 rows=4\n"
        "sync.signal matrix sem=0\nsync.wait host_write sem=0\nhalt\n",
        "test");
    Cycle first_cycle = 0;
    {
        const tests::FreshSimulation simulation;
        trace::Tracer whole({.kinds = {"timeline"}}, program, small_machine(), folder.path());
        hw::System system("system", small_machine(), program,
                          {.trace = whole.sink(), .test_delta_delay = {}});
        CHECK_THROWS_WITH(system.run(), Catch::Contains("for a weight tile"));
    }
    const ReadTimeline timeline = tests::read_timeline(folder / trace::timeline_file);
    CHECK(tests::overlap(timeline).value_or("") == "");
    const auto& stuck = timeline.tracks.at("matrix unit").back();
    CHECK(stuck.name == "matmul");
    CHECK(stuck.args.at("unfinished") == true);
    CHECK(stuck.args.at("number") == 4);
    CHECK(timeline.tracks.at("matrix queue").back().name == "sync.signal");
    CHECK(timeline.tracks.at("host_write queue").back().name == "sync.wait");
    const auto& layers = timeline.tracks.at("layers");
    REQUIRE(!layers.empty());
    CHECK(layers.front().name == "one");
    CHECK(layers.front().begin == 0);
    first_cycle = layers.back().end;

    // All bytes were counted before this window, so the counter begins with their number.
    const Folder late;
    {
        const tests::FreshSimulation simulation;
        trace::Tracer part({.kinds = {"timeline"}, .from = first_cycle}, program, small_machine(),
                           late.path());
        hw::System system("system", small_machine(), program, {.trace = part.sink(), .test_delta_delay = {}});
        CHECK_THROWS(system.run());
    }
    CHECK(tests::read_timeline(late / trace::timeline_file).last("weight memory read bytes") == 64);
}

TEST_CASE("A program of no cycles has a trace", "[trace]") {
    const Folder folder;
    const isa::Program program = isa::assemble(products, "test");
    trace::Tracer tracer({.kinds = all_kinds}, program, small_machine(), folder.path());
    CHECK_NOTHROW(tracer.finish(0, {}));
}

TEST_CASE("A file that cannot be written leaves the others whole", "[trace]") {
    if (!std::filesystem::exists("/dev/full")) return;
    const Folder folder;
    std::filesystem::create_symlink("/dev/full", folder / trace::timeline_file);
    const isa::Program program = isa::assemble(products, "test");
    const tests::FreshSimulation simulation;
    trace::Tracer tracer({.kinds = all_kinds}, program, small_machine(), folder.path());
    hw::System system("system", small_machine(), program, {.trace = tracer.sink(), .test_delta_delay = {}});
    system.run();
    CHECK_THROWS_WITH(tracer.finish(system.cycles(), {}), Catch::Contains("No space left on device"));
    CHECK(tests::read_csv(tests::text_in(folder / trace::csv_file)).lines.size() ==
          instructions_run(program));
    CHECK(lines_of(tests::text_in(folder / trace::text_file)).size() == instructions_run(program) + 1);
}

TEST_CASE("A window after the run is an error, and so is an unknown layer", "[trace]") {
    const Folder folder;
    const isa::Program program = isa::assemble(products, "test");
    const machine::MachineConfig machine = small_machine();
    trace::Tracer tracer({.kinds = {"csv"}, .from = 100}, program, machine, folder.path());
    CHECK_THROWS_WITH(tracer.finish(100, {}),
                      "trace.from is 100; the window is empty: the run ended after 100 cycles");
    CHECK_THROWS_WITH(trace::Tracer({.kinds = {"csv"}, .layers = {"secnd"}}, program, machine, folder.path()),
                      "trace.layers is \"secnd\"; the program has no such layer; did you mean \"second\"?");
    CHECK_NOTHROW(trace::Tracer({.kinds = {"csv"}, .layers = {"(outside layers)", "first"}}, program, machine,
                                folder.path()));
}

TEST_CASE("Without a trace there is no sink, and no file is created", "[trace]") {
    const Folder folder;
    const isa::Program program = isa::assemble(products, "test");
    const machine::MachineConfig machine = small_machine();
    trace::Tracer tracer({}, program, machine, folder.path());
    CHECK(tracer.sink() == nullptr);
    tracer.finish(1, {});
    CHECK(std::filesystem::is_empty(folder.path()));
}
