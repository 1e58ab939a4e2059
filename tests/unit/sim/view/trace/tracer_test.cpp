// Random programs on random machines, traced whole and through a window: what the files say is what the
// counters say, and a window shows a part of the whole.
#include "sim/view/trace/tracer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hw/common/fan_out.h"
#include "hw/core/core.h"
#include "hw/isa/program.h"
#include "hw/machine/config_error.h"
#include "sim/run/execute/recorders.h"
#include "sim/view/energy/run_energy.h"
#include "tests/support/chip.h"
#include "tests/support/csv.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_program/random_case.h"
#include "tests/support/random_program/synchronize.h"
#include "tests/support/random_runs.h"
#include "tests/support/timeline.h"

using namespace systole;
using tests::Folder;
using tests::ReadTimeline;

namespace {

const std::vector<std::string> all_kinds{"timeline", "csv", "text"};

void check_matrix_track(const ReadTimeline& timeline, const hw::Core& core) {
    const std::string track = "matrix unit";
    std::uint64_t gaps = 0;
    std::size_t streams = 0;
    for (const auto& slice : timeline.tracks.at(track)) {
        if (!slice.args.contains("active")) continue;
        gaps += slice.end - slice.begin - slice.args.at("active").get<std::uint64_t>();
        ++streams;
    }
    CHECK(timeline.sum(track, "active") == core.counter("matrix_unit.active_cycles").value());
    CHECK(timeline.cycles(track, "weight_stall") == core.counter("matrix_unit.weight_stall_cycles").value());
    CHECK(timeline.cycles(track, "weight_shift") == core.counter("matrix_unit.weight_shift_cycles").value());
    CHECK(timeline.cycles(track, "port_stall") == core.counter("matrix_unit.port_stall_cycles").value());
    CHECK(gaps == core.counter("matrix_unit.setup_stall_cycles").value());
    CHECK(timeline.cycles(track, "non_matrix") + timeline.cycles(track, "port_stall") + gaps ==
          core.counter("matrix_unit.non_matrix_cycles").value());
    CHECK(timeline.sum(track, "raw_stall") == core.counter("matrix_unit.raw_stall_cycles").value());
    CHECK(timeline.sum(track, "input_stall") == core.counter("matrix_unit.input_stall_cycles").value());
    CHECK(timeline.flows.size() == streams);
}

void check_other_tracks(const ReadTimeline& timeline, const hw::Core& core) {
    CHECK(timeline.cycles("sequencer", "empty") == core.counter("sequencer.empty_cycles").value());
    CHECK(timeline.cycles("sequencer", "queue_full") == core.counter("sequencer.queue_full_cycles").value());
    CHECK(timeline.cycles("activation", "stall") ==
          core.counter("activation_unit.drain_cycles").value() +
              core.counter("activation_unit.port_stall_cycles").value());
    for (const std::string unit : {"host_read", "host_write"}) {
        CAPTURE(unit);
        CHECK(timeline.cycles(unit, "stall") == core.counter(unit + ".port_stall_cycles").value());
        CHECK(timeline.cycles(unit, unit == "host_read" ? "read_host" : "write_host") ==
              core.counter(unit + ".busy_cycles").value());
    }
}

void check_layers(const ReadTimeline& timeline, const hw::Core& core) {
    std::map<hw::Tag, std::uint64_t> cycles;
    for (const auto& slice : timeline.tracks.at("layers")) {
        cycles[slice.args.at("tag")] += slice.end - slice.begin;
    }
    const std::array<const hw::Counter*, 4> parts{
        &core.counter("matrix_unit.active_cycles"), &core.counter("matrix_unit.weight_stall_cycles"),
        &core.counter("matrix_unit.weight_shift_cycles"), &core.counter("matrix_unit.non_matrix_cycles")};
    hw::Tag last_tag = 0;
    for (const hw::Counter* part : parts) last_tag = std::max(last_tag, part->last_tag());
    std::uint64_t all = 0;
    for (std::uint32_t tag = 0; tag <= last_tag; ++tag) {
        CAPTURE(tag);
        std::uint64_t counted = 0;
        for (const hw::Counter* part : parts) counted += part->value(static_cast<hw::Tag>(tag));
        CHECK(cycles[static_cast<hw::Tag>(tag)] == counted);
        all += counted;
    }
    CHECK(all == core.cycles());
    CHECK(cycles.size() <= last_tag + std::size_t{1});
}

void check_counters(const ReadTimeline& timeline, const hw::Core& core,
                    const machine::MachineConfig& machine) {
    CHECK(timeline.last("weight memory read bytes") ==
          static_cast<std::int64_t>(core.counter("weight_fifo.bytes").value()));
    CHECK(timeline.last("host read bytes") ==
          static_cast<std::int64_t>(core.counter("host_interface.read_bytes").value()));
    CHECK(timeline.last("host write bytes") ==
          static_cast<std::int64_t>(core.counter("host_interface.write_bytes").value()));
    const auto fifo = timeline.counters.find("weight FIFO tiles");
    if (fifo == timeline.counters.end()) return;
    for (const std::int64_t tiles : fifo->second) {
        CHECK(tiles >= 0);
        CHECK(tiles <= std::int64_t{machine.weight_fifo.depth_tiles});
    }
}

/// Up to `halt`: nothing behind it is run.
std::size_t instructions_run(const isa::Program& program) {
    const auto halt =
        std::find_if(program.instructions.begin(), program.instructions.end(),
                     [](const auto& instruction) { return std::holds_alternative<isa::Halt>(instruction); });
    return static_cast<std::size_t>(std::distance(program.instructions.begin(), halt)) + 1;
}

void check_csv(const tests::Csv& csv, const isa::Program& program, const hw::Core& core) {
    std::set<std::string> numbers;
    std::size_t repetitions = 0;
    for (const auto& line : csv.lines) {
        numbers.insert(line.at("number"));
        repetitions += line.at("repetition") == "0" ? 0 : 1;
        CHECK(std::stoull(line.at("issued")) <= std::stoull(line.at("begun")));
        CHECK(std::stoull(line.at("begun")) <= std::stoull(line.at("released")));
        CHECK(std::stoull(line.at("begun")) <= std::stoull(line.at("complete")));
        CHECK(std::stoull(line.at("waited")) <= std::stoull(line.at("begun")));
    }
    CHECK(numbers.size() == instructions_run(program));
    CHECK(csv.lines.size() == instructions_run(program) + repetitions);
    for (const hw::Counter* counter :
         {&core.counter("matrix_unit.active_cycles"), &core.counter("matrix_unit.weight_stall_cycles"),
          &core.counter("matrix_unit.weight_shift_cycles"), &core.counter("matrix_unit.non_matrix_cycles"),
          &core.counter("matrix_unit.raw_stall_cycles"), &core.counter("matrix_unit.input_stall_cycles"),
          &core.counter("matrix_unit.setup_stall_cycles"), &core.counter("matrix_unit.port_stall_cycles")}) {
        const std::string column(counter->name().substr(0, counter->name().rfind("_cycles")));
        CAPTURE(column);
        CHECK(csv.sum(column) == counter->value());
    }
}

/// Lines without the comma that leads to the next.
std::multiset<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::multiset<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
        if (!line.empty() && line.back() == ',') line.pop_back();
        lines.insert(line);
    }
    return lines;
}

bool is_part_of(const std::multiset<std::string>& part, const std::multiset<std::string>& whole) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

/// What a window must show of a track: all slices that overlap it and belong to its layers.
std::size_t slices_in(const std::vector<ReadTimeline::Slice>& slices, const trace::TraceConfig& config) {
    const std::uint64_t to = config.to != 0 ? config.to : UINT64_MAX;
    return static_cast<std::size_t>(std::count_if(slices.begin(), slices.end(), [&](const auto& slice) {
        const std::string layer = slice.args.value("layer", slice.name);
        const bool is_in_time =
            slice.begin < to &&
            (slice.end > config.from || (slice.begin == slice.end && slice.begin >= config.from));
        const bool is_in_layer = config.layers.empty() || config.layers.front() == layer;
        return is_in_time && is_in_layer;
    }));
}

/// A window somewhere in a run of so many cycles, sometimes of one layer alone.
trace::TraceConfig random_window(tests::Choices& choices, const isa::Program& program, Cycle cycles) {
    trace::TraceConfig config{.kinds = all_kinds};
    config.from = choices.from(0, cycles - 1);
    if (choices.chance(60)) config.to = config.from + choices.from(1, cycles);
    if (choices.chance(40)) {
        std::vector<hw::Tag> tags{0};
        for (const isa::Instruction& instruction : program.instructions) {
            if (const auto* tag = std::get_if<isa::DebugTag>(&instruction)) tags.push_back(tag->tag);
        }
        config.layers = {isa::layer_name(program, choices.one_of(tags))};
    }
    return config;
}

/// A run traced into as many folders as there are configurations; returns its cycles.
template <class Check>
Cycle run_traced(const isa::Program& program, const machine::MachineConfig& machine,
                 const std::vector<std::pair<trace::TraceConfig, std::filesystem::path>>& traces,
                 const Check& check) {
    const tests::FreshSimulation simulation;
    std::vector<std::unique_ptr<trace::Tracer>> tracers;
    hw::TraceFanOut all;
    for (const auto& [config, folder] : traces) {
        tracers.push_back(std::make_unique<trace::Tracer>(config, program, machine, folder));
        all.add(tracers.back()->sink());
    }
    hw::Core core("core", machine, program, {.trace = all.sink(), .test_delta_delay = {}});
    core.run();
    for (const auto& tracer : tracers) tracer->finish(core.cycles(), {});
    check(core);
    return core.cycles();
}

void check_whole(const isa::Program& program, const machine::MachineConfig& machine, const hw::Core& core,
                 const Folder& folder) {
    const ReadTimeline timeline = tests::read_timeline(folder / trace::timeline_file);
    CHECK(tests::overlap(timeline).value_or("") == "");
    CHECK(tests::broken_flow(timeline).value_or("") == "");
    check_matrix_track(timeline, core);
    check_other_tracks(timeline, core);
    check_layers(timeline, core);
    check_counters(timeline, core, machine);
    const tests::Csv csv = tests::read_csv(tests::text_in(folder / trace::csv_file));
    check_csv(csv, program, core);
    CHECK(lines_of(tests::text_in(folder / trace::text_file)).size() == csv.lines.size() + 1);
}

void check_part(const trace::TraceConfig& config, const Folder& part, const Folder& whole) {
    CHECK(is_part_of(lines_of(tests::gunzipped(part / trace::timeline_file)),
                     lines_of(tests::gunzipped(whole / trace::timeline_file))));
    for (const char* file : {trace::csv_file, trace::text_file}) {
        CHECK(is_part_of(lines_of(tests::text_in(part / file)), lines_of(tests::text_in(whole / file))));
    }
    const ReadTimeline shown = tests::read_timeline(part / trace::timeline_file);
    CHECK(tests::broken_flow(shown).value_or("") == "");
    for (const auto& [track, slices] : tests::read_timeline(whole / trace::timeline_file).tracks) {
        CAPTURE(track);
        CHECK(shown.tracks.at(track).size() == slices_in(slices, config));
    }
}

}  // namespace

TEST_CASE("Random runs: traces agree with the counters, and a window is a part of the whole trace",
          "[trace]") {
    constexpr std::uint64_t first_seed = 5100;
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(60); ++seed) {
        CAPTURE(seed);
        tests::Choices choices(seed);
        tests::Case random = tests::random_case(choices);
        const isa::Program program = tests::synchronized(random);
        for (const machine::Engine engine : {machine::Engine::Wavefront, machine::Engine::Pe}) {
            CAPTURE(machine::engine_names[static_cast<std::size_t>(engine)]);
            random.machine.matrix_unit.engine = engine;
            const Folder whole;
            const trace::TraceConfig everything{.kinds = all_kinds};
            const Cycle cycles =
                run_traced(program, random.machine, {{everything, whole.path()}},
                           [&](const hw::Core& core) { check_whole(program, random.machine, core, whole); });

            const Folder again;
            const Folder part;
            const trace::TraceConfig window = random_window(choices, program, cycles);
            run_traced(program, random.machine, {{everything, again.path()}, {window, part.path()}},
                       [](const hw::Core&) {});
            CHECK(tests::gunzipped(whole / trace::timeline_file) ==
                  tests::gunzipped(again / trace::timeline_file));
            check_part(window, part, whole);
        }
    }
}

TEST_CASE("Both engines draw the same timeline", "[trace]") {
    constexpr std::uint64_t first_seed = 5200;
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(30); ++seed) {
        CAPTURE(seed);
        tests::Choices choices(seed);
        tests::Case random = tests::random_case(choices);
        const isa::Program program = tests::synchronized(random);
        std::vector<std::multiset<std::string>> drawn;
        for (const machine::Engine engine : {machine::Engine::Wavefront, machine::Engine::Pe}) {
            random.machine.matrix_unit.engine = engine;
            const Folder folder;
            run_traced(program, random.machine, {{trace::TraceConfig{.kinds = all_kinds}, folder.path()}},
                       [](const hw::Core&) {});
            drawn.push_back(lines_of(tests::gunzipped(folder / trace::timeline_file)));
        }
        CHECK(drawn[0] == drawn[1]);
    }
}

namespace {

/// Two products by one tile and a third by another, of 4 rows each, behind rows from the host.
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
    run_traced(program, small_machine(), {{{.kinds = {"timeline"}}, folder.path()}}, [](const hw::Core&) {});
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
    CHECK(multiply.name == "non_matrix");  // the way of the last sums, and of nothing else
    CHECK(multiply.end == layers[1].end);
}

TEST_CASE("An instruction has waited since it was the first in its queue", "[trace]") {
    const Folder folder;
    const isa::Program program = isa::assemble(products, "test");
    run_traced(program, small_machine(), {{{.kinds = {"csv"}}, folder.path()}}, [](const hw::Core&) {});
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
    std::vector<run::WorkInterval> intervals;
    run::ActivityRecorder recorder(intervals);
    hw::TraceFanOut all;
    all.add(&recorder);
    all.add(tracer.sink());
    hw::Core core("core", machine, program, {.trace = all.sink(), .test_delta_delay = {}});
    core.run();
    constexpr std::uint32_t windows = 4;
    const run::Counters counters = run::counters_of(core);
    tracer.finish(core.cycles(), {.power = energy::power_over_time(energy::events(counters, machine), machine,
                                                                   intervals, core.cycles(), windows),
                                  .buffer_rows = {{10, 5}, {12, -2}, {20, 0}, {30, -3}}});
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
        hw::Core core("core", small_machine(), program, {.trace = tracer.sink(), .test_delta_delay = {}});
        CHECK_THROWS(core.run());
    }
    const ReadTimeline timeline = tests::read_timeline(folder / trace::timeline_file);
    CHECK(tests::overlap(timeline).value_or("") == "");
    const auto& streams = timeline.tracks.at("matrix unit");
    const auto& stream = *std::find_if(streams.begin(), streams.end(),
                                       [](const auto& slice) { return slice.args.contains("active"); });
    CHECK(stream.end - stream.begin == 4);
    CHECK(tests::read_csv(tests::text_in(folder / trace::csv_file)).lines.size() == 2);
    // What waits for ever is the last slice of its track.
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
    // The second multiply never gets a tile; the activation behind it waits for nothing but the multiply.
    const isa::Program program = isa::assemble(
        ".array 8 8\n.tile 8 8 fill 1\n.layer \"one\" dense\n.layer \"two\" dense\n"
        "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=4\ntag 2\nmatmul ub=0 acc=8 rows=4\n"
        "sync.signal matrix sem=0\nsync.wait host_write sem=0\nhalt\n",
        "test");
    Cycle first_cycle = 0;
    {
        const tests::FreshSimulation simulation;
        trace::Tracer whole({.kinds = {"timeline"}}, program, small_machine(), folder.path());
        hw::Core core("core", small_machine(), program, {.trace = whole.sink(), .test_delta_delay = {}});
        CHECK_THROWS_WITH(core.run(), Catch::Contains("waits for a weight tile"));
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

    // All that was counted lies before this window: it is what the counters stand at.
    const Folder late;
    {
        const tests::FreshSimulation simulation;
        trace::Tracer part({.kinds = {"timeline"}, .from = first_cycle}, program, small_machine(),
                           late.path());
        hw::Core core("core", small_machine(), program, {.trace = part.sink(), .test_delta_delay = {}});
        CHECK_THROWS(core.run());
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
    hw::Core core("core", small_machine(), program, {.trace = tracer.sink(), .test_delta_delay = {}});
    core.run();
    CHECK_THROWS_WITH(tracer.finish(core.cycles(), {}), Catch::Contains("No space left on device"));
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
