// Random programs on random machines, traced whole and through a window: the files agree with the counters,
// and a window shows a part of the whole.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hw/isa/program.h"
#include "hw/system/system.h"
#include "tests/support/csv.h"
#include "tests/support/files.h"
#include "tests/support/random_program/random_case.h"
#include "tests/support/random_program/synchronize.h"
#include "tests/support/random_runs.h"
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

void check_matrix_track(const ReadTimeline& timeline, const hw::System& system) {
    const std::string track = "matrix unit";
    std::uint64_t gaps = 0;
    std::size_t streams = 0;
    for (const auto& slice : timeline.tracks.at(track)) {
        if (!slice.args.contains("active")) continue;
        gaps += slice.end - slice.begin - slice.args.at("active").get<std::uint64_t>();
        ++streams;
    }
    CHECK(timeline.sum(track, "active") == system.counter("matrix_unit.active_cycles").value());
    CHECK(timeline.cycles(track, "weight_stall") ==
          system.counter("matrix_unit.weight_stall_cycles").value());
    CHECK(timeline.cycles(track, "weight_shift") ==
          system.counter("matrix_unit.weight_shift_cycles").value());
    CHECK(timeline.cycles(track, "port_stall") == system.counter("matrix_unit.port_stall_cycles").value());
    CHECK(gaps == system.counter("matrix_unit.setup_stall_cycles").value());
    CHECK(timeline.cycles(track, "non_matrix") + timeline.cycles(track, "port_stall") + gaps ==
          system.counter("matrix_unit.non_matrix_cycles").value());
    CHECK(timeline.sum(track, "raw_stall") == system.counter("matrix_unit.raw_stall_cycles").value());
    CHECK(timeline.sum(track, "input_stall") == system.counter("matrix_unit.input_stall_cycles").value());
    CHECK(timeline.flows.size() == streams);
}

void check_other_tracks(const ReadTimeline& timeline, const hw::System& system) {
    CHECK(timeline.cycles("sequencer", "empty") == system.counter("sequencer.empty_cycles").value());
    CHECK(timeline.cycles("sequencer", "queue_full") ==
          system.counter("sequencer.queue_full_cycles").value());
    CHECK(timeline.cycles("activation", "stall") ==
          system.counter("activation_unit.drain_cycles").value() +
              system.counter("activation_unit.port_stall_cycles").value());
    for (const std::string unit : {"host_read", "host_write"}) {
        CAPTURE(unit);
        const Cycle on_link = unit == "host_read" ? system.counter("host_read.link_stall_cycles").value() : 0;
        CHECK(timeline.cycles(unit, "stall") ==
              system.counter(unit + ".port_stall_cycles").value() + on_link);
        CHECK(timeline.cycles(unit, unit == "host_read" ? "read_host" : "write_host") ==
              system.counter(unit + ".busy_cycles").value());
    }
}

void check_layers(const ReadTimeline& timeline, const hw::System& system) {
    std::map<hw::Tag, std::uint64_t> cycles;
    for (const auto& slice : timeline.tracks.at("layers")) {
        cycles[slice.args.at("tag")] += slice.end - slice.begin;
    }
    const std::array<const hw::Counter*, 4> parts{
        &system.counter("matrix_unit.active_cycles"), &system.counter("matrix_unit.weight_stall_cycles"),
        &system.counter("matrix_unit.weight_shift_cycles"), &system.counter("matrix_unit.non_matrix_cycles")};
    hw::Tag last_tag = 0;
    for (const hw::Counter* part : parts) last_tag = std::max(last_tag, part->last_tag());
    const bool moved = system.counter("matrix_unit.non_matrix_reasons.vector_work_cycles").value() > 0;
    std::uint64_t all = 0;
    std::uint64_t shown = 0;
    for (std::uint32_t tag = 0; tag <= last_tag; ++tag) {
        CAPTURE(tag);
        std::uint64_t counted = 0;
        for (const hw::Counter* part : parts) counted += part->value(static_cast<hw::Tag>(tag));
        // Cycles of vector work count for its layer; the trace shows them where they delay the array.
        if (!moved) CHECK(cycles[static_cast<hw::Tag>(tag)] == counted);
        all += counted;
        shown += cycles[static_cast<hw::Tag>(tag)];
    }
    CHECK(all == system.cycles());
    CHECK(shown == all);
    CHECK(cycles.size() <= last_tag + std::size_t{1});
}

void check_counters(const ReadTimeline& timeline, const hw::System& system,
                    const machine::MachineConfig& machine) {
    CHECK(timeline.last("weight memory read bytes") ==
          static_cast<std::int64_t>(system.counter("weight_fifo.bytes").value()));
    CHECK(timeline.last("host read bytes") ==
          static_cast<std::int64_t>(system.counter("host_interface.read_bytes").value()));
    CHECK(timeline.last("host write bytes") ==
          static_cast<std::int64_t>(system.counter("host_interface.write_bytes").value()));
    const auto fifo = timeline.counters.find("weight FIFO tiles");
    if (fifo == timeline.counters.end()) return;
    for (const std::int64_t tiles : fifo->second) {
        CHECK(tiles >= 0);
        CHECK(tiles <= std::int64_t{machine.weight_fifo.depth_tiles});
    }
}

void check_csv(const tests::Csv& csv, const isa::Program& program, const hw::System& system) {
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
         {&system.counter("matrix_unit.active_cycles"), &system.counter("matrix_unit.weight_stall_cycles"),
          &system.counter("matrix_unit.weight_shift_cycles"),
          &system.counter("matrix_unit.non_matrix_cycles"), &system.counter("matrix_unit.raw_stall_cycles"),
          &system.counter("matrix_unit.input_stall_cycles"),
          &system.counter("matrix_unit.setup_stall_cycles"),
          &system.counter("matrix_unit.port_stall_cycles")}) {
        const std::string column(counter->name().substr(0, counter->name().rfind("_cycles")));
        CAPTURE(column);
        CHECK(csv.sum(column) == counter->value());
    }
}

bool is_part_of(const std::multiset<std::string>& part, const std::multiset<std::string>& whole) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

/// The number of a track's slices that a window must show: those that overlap it and belong to its layers.
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

/// A random window in a run of `cycles` cycles, sometimes of one layer alone.
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

void check_whole(const isa::Program& program, const machine::MachineConfig& machine, const hw::System& system,
                 const Folder& folder) {
    const ReadTimeline timeline = tests::read_timeline(folder / trace::timeline_file);
    CHECK(tests::overlap(timeline).value_or("") == "");
    CHECK(tests::broken_flow(timeline).value_or("") == "");
    check_matrix_track(timeline, system);
    check_other_tracks(timeline, system);
    check_layers(timeline, system);
    check_counters(timeline, system, machine);
    const tests::Csv csv = tests::read_csv(tests::text_in(folder / trace::csv_file));
    check_csv(csv, program, system);
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
            const Cycle cycles = run_traced(
                program, random.machine, {{everything, whole.path()}},
                [&](const hw::System& system) { check_whole(program, random.machine, system, whole); });

            const Folder again;
            const Folder part;
            const trace::TraceConfig window = random_window(choices, program, cycles);
            run_traced(program, random.machine, {{everything, again.path()}, {window, part.path()}},
                       [](const hw::System&) {});
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
                       [](const hw::System&) {});
            drawn.push_back(lines_of(tests::gunzipped(folder / trace::timeline_file)));
        }
        CHECK(drawn[0] == drawn[1]);
    }
}
