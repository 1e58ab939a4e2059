#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sim/view/figures/baselines.h"
#include "tests/unit/sim/view/figures/cases.h"
#include "tests/unit/sim/view/figures/cycles.h"
#include "tests/unit/sim/view/figures/energy.h"
#include "tests/unit/sim/view/figures/facts.h"
#include "tests/unit/sim/view/figures/memory.h"
#include "tests/unit/sim/view/figures/rows.h"

/// Runs of machines with tiles, and what their reports have in place of the matrix unit: docs/report.md,
/// Machines with tiles.
namespace systole::figures {

/// 4 x 4 tiles with odd numbers everywhere.
inline Json tile_machine() {
    return {{"schema", "sim.machine/1"},
            {"name", "tiles"},
            {"family", "edge_tpu"},
            {"clock_mhz", 433.3},
            {"tile_array",
             {{"lines", 4},
              {"columns", 4},
              {"lanes", 64},
              {"pixels", 5},
              {"weight_buffer_rows", 8},
              {"depthwise_macs_per_cycle", 5},
              {"vector_bytes_per_cycle", 3},
              {"pooling_bytes_per_cycle", 2},
              {"result_cycles", 3}}},
            {"narrow_memory", {{"bytes", 5000}}},
            {"wide_memory", {{"bytes", 524288}}},
            {"ring", {{"bytes_per_cycle", 7.7}, {"latency_cycles", 2}}},
            {"mesh", {{"bytes_per_cycle", 2.5}, {"latency_cycles", 1}}},
            {"host_interface", {{"read_gb_per_s", 0.37}, {"write_gb_per_s", 0.23}, {"latency_cycles", 21}}},
            {"host", {{"call_us", 3.7}}},
            {"sequencer", {{"instruction_buffer_bytes", 4096}}},
            {"power", {{"idle_watts", 0.6}, {"busy_watts", 1.9}}}};
}

inline std::string text_of_tiles(const std::string& name) {
    return tests::text_in(std::filesystem::path(tests::source_dir()) / "tests/support/tiles" / name);
}

/// Two calls of the same network: the second finds its parameters in the memory, and needs no others.
inline std::string two_calls() {
    std::string text = text_of_tiles("three_layers.asm");
    const auto replace = [&](const std::string& what, const std::string& with) {
        const std::size_t at = text.find(what);
        if (at == std::string::npos) throw std::logic_error(what);
        text.replace(at, what.size(), with);
    };
    replace("inferences=1", "inferences=2");
    replace("input 0 256", "input 0 512");
    replace("output 32768 10", "output 32768 20");
    const std::string sets = "set result.lines 8; set result.columns 8; set result.channels 4";
    replace(sets, "read_program 700\n" + sets);
    std::string call = text.substr(text.find(sets));
    text.erase(text.rfind("halt"));
    text +=
        "sync.signal host_write sem=7; sync.wait host_read sem=7\n"
        "read_program 700\nset window.stride_y 1; set window.stride_x 1\n";
    std::istringstream lines(call);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("read_parameters")) continue;
        if (line.starts_with("read_tensor image")) line = "read_tensor image+256 at=0";
        if (line.starts_with("write_tensor out")) line = "write_tensor out+10 at=512 over_lanes";
        text += line + '\n';
    }
    return text;
}

/// What a call takes, of chip, link, host and board.
inline Json tile_energy() {
    return {{"mac_pj", 0.31},
            {"tile_cycle_pj", 170},
            {"host_link_pj_per_byte", 14.1},
            {"host_watts", 3.7},
            {"board_watts", 2.3}};
}

/// All cases with tiles, run once in this process.
inline const std::vector<std::pair<Case, Finished>>& finished_tiles() {
    static const std::vector<std::pair<Case, Finished>> all = [] {
        const std::string program = text_of_tiles("three_layers.asm");
        std::vector<Case> cases;
        cases.push_back({.name = "three layers",
                         .machine = tile_machine(),
                         .program = program,
                         .run = {{"random_input", 7}, {"instructions", true}, {"print", {"out:int8x5"}}},
                         .explained = true});
        Json other = tile_machine();
        other.erase("power");
        other["tile_array"]["engine"] = "lane";
        cases.push_back({.name = "three layers without values",
                         .machine = other,
                         .program = program,
                         .run = {{"timing_only", true}}});
        Json called = tile_machine();
        called["host"] = {{"processor", "k80"}, {"call_us", 7.5}};
        called["tile_energy"] = tile_energy();
        called["power"]["idle_watts"] = 0.2;
        cases.push_back(
            {.name = "two calls",
             .machine = called,
             .program = two_calls(),
             .run = {{"timing_only", true}, {"power_windows", 6}},
             .baselines = {file_of("baselines/haswell_e5_2699_v3.json"), file_of("baselines/k80.json")}});
        std::vector<std::pair<Case, Finished>> made;
        for (Case& each : cases) {
            INFO(each.name);
            try {
                Finished finished = finish(each);
                made.emplace_back(std::move(each), std::move(finished));
            } catch (const std::exception& error) {
                FAIL_CHECK(error.what());
            }
        }
        return made;
    }();
    return all;
}

/// All counters of the tiles, with their work, in all or of some tags.
inline Json tile_array(const Facts& facts, const std::optional<std::vector<run::Tag>>& tags) {
    const auto value = [&](const std::string& path) {
        if (!tags) return facts.count(path);
        std::uint64_t sum = 0;
        for (const run::Tag tag : *tags) sum += facts.count(path, tag);
        return sum;
    };
    Json unit{{"work", Json::object()}};
    for (const char* const name : {"busy_cycles", "ring_stall_cycles", "sync_cycles", "idle_cycles"}) {
        unit[name] = value(std::string("tile_array.") + name);
    }
    for (const char* const name : {"multiply_cycles", "vector_cycles", "useful_macs", "unused_macs",
                                   "results", "read_bytes", "dense_bytes"}) {
        unit["work"][name] = value(std::string("tile_array.work.") + name);
    }
    return unit;
}

struct TileBounds {
    std::uint64_t macs = 0;
    std::uint64_t array = 0;
    std::uint64_t vector = 0;
    std::uint64_t ring = 0;
    std::uint64_t mesh = 0;
    std::uint64_t host_link = 0;

    std::uint64_t largest() const { return std::max({array, vector, ring, mesh, host_link}); }
};

/// Bytes for the tiles over the ring: parameters and vectors.
inline std::uint64_t ring_bytes(const Facts& facts, std::optional<run::Tag> tag = {}) {
    return facts.count("ring.parameter_bytes", tag) + facts.count("ring.vector_bytes", tag);
}

/// The bounds of the run, or of a layer. Inputs and outputs without a tag are of the first and the last layer
/// with work.
inline TileBounds tile_bounds(const Facts& facts, std::optional<run::Tag> tag = {}) {
    TileBounds bounds;
    if (facts.count("tile_array.work.useful_macs", tag) > 0) {
        bounds.macs = (facts.needed_macs(tag) + facts.macs_a_cycle() - 1) / facts.macs_a_cycle();
    }
    bounds.array = facts.count("tile_array.work.multiply_cycles", tag);
    bounds.vector = facts.count("tile_array.work.vector_cycles", tag);
    constexpr std::uint64_t million = 1'000'000;
    const auto ring_rate =
        static_cast<std::uint64_t>(std::llround(facts.number("ring.bytes_per_cycle") * 1e6));
    bounds.ring = ring_bytes(facts, tag) * million / ring_rate;
    bounds.mesh = facts.count("mesh.busy_cycles", tag);
    run::Tag first = 0;
    run::Tag last = 0;
    for (std::size_t number = 1; number <= facts.layers(); ++number) {
        const auto layer = static_cast<run::Tag>(number);
        if (facts.count("tile_array.busy_cycles", layer) + ring_bytes(facts, layer) == 0) continue;
        if (first == 0) first = layer;
        last = layer;
    }
    const auto moved = [&](const char* counter, run::Tag end) {
        if (!tag) return facts.count(counter);
        std::uint64_t bytes = *tag == 0 ? 0 : facts.count(counter, tag);
        if (*tag == end) bytes += facts.count(counter, run::Tag{0});
        return bytes;
    };
    std::uint64_t data = moved("host_interface.read_bytes", first);
    for (const char* const counter : {"parameter_bytes", "streamed_bytes", "program_bytes"}) {
        data += facts.count(std::string("host_interface.") + counter, tag);
    }
    const std::uint64_t in = data + facts.count("host_interface.instruction_bytes", tag);
    const double call_us = facts.number("host.call_us");
    const auto call = static_cast<std::uint64_t>(std::ceil(call_us * 1e-6 * facts.clock_hz() - 1e-6));
    const double read_rate = facts.number("host_interface.read_gb_per_s");
    const std::uint64_t with_calls =
        facts.count("host_interface.calls", tag) * call + whole_cycles(facts, data, read_rate);
    const std::uint64_t out = moved("host_interface.write_bytes", last);
    bounds.host_link = std::max({with_calls, whole_cycles(facts, in, read_rate),
                                 whole_cycles(facts, out, facts.number("host_interface.write_gb_per_s"))});
    return bounds;
}

inline Json tile_bounds_json(const TileBounds& bounds, const Expected& ratio) {
    return {{"macs", bounds.macs},
            {"array", bounds.array},
            {"vector", bounds.vector},
            {"ring", bounds.ring},
            {"mesh", bounds.mesh},
            {"host_link", bounds.host_link},
            {"ratio", ratio.value},
            {"fill", quotient(static_cast<double>(bounds.macs), static_cast<double>(bounds.array)).value}};
}

/// Links between neighbours, in both directions.
inline double mesh_links(const Facts& facts) {
    const double lines = facts.number("tile_array.lines");
    const double columns = facts.number("tile_array.columns");
    return 2.0 * (lines * (columns - 1.0) + columns * (lines - 1.0));
}

inline std::vector<PathFigures> paths_of_tiles(const Facts& facts) {
    const auto count = [&](const char* counter) { return facts.count(counter); };
    const double clock = facts.clock_hz();
    const double in = facts.number("host_interface.read_gb_per_s") * 1e9;
    const double out = facts.number("host_interface.write_gb_per_s") * 1e9;
    const double tiles = facts.number("tile_array.lines") * facts.number("tile_array.columns");
    const double reads = std::max({4.0, facts.number("tile_array.depthwise_macs_per_cycle"),
                                   2.0 * facts.number("tile_array.vector_bytes_per_cycle"),
                                   facts.number("tile_array.pooling_bytes_per_cycle")});
    const double writes =
        std::max(facts.number("tile_array.lanes"), facts.number("tile_array.vector_bytes_per_cycle"));
    const double ring = clock * facts.number("ring.bytes_per_cycle");
    return {
        {"narrow_memory", "tile_array", "bytes", count("tile_array.work.read_bytes"), clock * reads * tiles},
        {"tile_array", "narrow_memory", "bytes", count("tile_array.work.results"), clock * writes * tiles},
        {"wide_memory", "tile_array", "bytes", count("tile_array.work.dense_bytes"),
         clock * static_cast<double>(facts.macs_a_cycle())},
        {"wide_memory", "ring", "bytes", count("ring.wide_bytes"), ring},
        {"ring", "tile_array", "bytes", ring_bytes(facts), ring},
        {"mesh", "narrow_memory", "bytes", count("mesh.bytes"),
         clock * mesh_links(facts) * facts.number("mesh.bytes_per_cycle")},
        {"host_interface", "narrow_memory", "bytes", count("host_interface.read_bytes"), in},
        {"narrow_memory", "host_interface", "bytes", count("host_interface.write_bytes"), out},
        {"host_interface", "wide_memory", "bytes", count("host_interface.parameter_bytes"), in},
        {"host_interface", "ring", "bytes", count("host_interface.streamed_bytes"), in},
        {"host_interface", "sequencer", "bytes",
         count("host_interface.instruction_bytes") + count("host_interface.program_bytes"), in},
    };
}

inline Expected paths_in_tiles(const Facts& facts, const Place&) {
    Json list = Json::array();
    for (const PathFigures& path : paths_of_tiles(facts)) {
        list.push_back({{"from", path.from},
                        {"to", path.to},
                        {"moved", path.moved},
                        {"unit", path.unit},
                        {"utilization", share_of_path(facts, path.moved, path.most_a_second).value}});
    }
    return list;
}

/// Every unit has a box; the memories' bars show what was used, the others' the cycles in which they worked.
inline Expected drawing_of_tiles(const Facts& facts, const Place&) {
    const Json& shown = facts.report().at("drawing");
    const std::vector<std::pair<std::string, std::string>> bars{{"tile_array", "tile_array.busy_cycles"},
                                                                {"narrow_memory", ""},
                                                                {"wide_memory", ""},
                                                                {"ring", "ring.busy_cycles"},
                                                                {"mesh", "mesh.busy_cycles"},
                                                                {"host_interface", "host_read.busy_cycles"},
                                                                {"sequencer", "sequencer.busy_cycles"}};
    Json boxes = Json::array();
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const auto& [unit, busy] = bars[i];
        Json box = i < shown.at("boxes").size() ? shown.at("boxes").at(i) : Json::object();
        box["unit"] = unit;
        box.erase("busy");
        box.erase("filled");
        if (!busy.empty()) {
            box["busy"] = "units." + busy;
        } else {
            const double tiles = facts.number("tile_array.lines") * facts.number("tile_array.columns");
            const double each = facts.number(unit + ".bytes");
            box["filled"] = {
                {"used_bytes", used_bytes(facts, unit)},
                {"bytes", static_cast<std::uint64_t>(unit == "wide_memory" ? each * tiles : each)}};
        }
        boxes.push_back(box);
    }
    Json routes = Json::array();
    std::size_t next = 0;
    for (const PathFigures& path : paths_of_tiles(facts)) {
        Json route{{"from", path.from}, {"to", path.to}};
        const Json& its = shown.at("routes").at(next++);
        for (const char* const key : {"figures", "shift"}) route[key] = its.at(key);
        routes.push_back(std::move(route));
    }
    return Json{{"boxes", boxes}, {"routes", routes}};
}

inline Expected kinds_of_tile_instructions(const Facts& facts, const Place&) {
    Json kinds = Json::array();
    for (const auto& [instruction, tags] : tags_by_instruction(facts)) {
        std::uint64_t executed = 0;
        std::uint64_t cycles = 0;
        for (const run::Tag tag : tags) {
            executed += facts.record().program.tags[tag].executed;
            cycles += facts.cycles(tag);
        }
        kinds.push_back({{"instruction", instruction},
                         {"executed", executed},
                         {"cycles", cycles},
                         {"tile_array", tile_array(facts, tags)}});
    }
    return kinds;
}

/// What a page needs to read the cycles of the tiles.
inline Expected cycle_classes(const Facts&, const Place&) {
    const auto one = [](const char* key, const char* name, const char* column, const char* meaning) {
        return Json{{"key", key}, {"name", name}, {"column", column}, {"meaning", meaning}};
    };
    return Json{
        {"unit", "tile_array"},
        {"words", "the tiles"},
        {"cells", "of the lanes in cycles that multiply"},
        {"useful_macs", "work.useful_macs"},
        {"unused_macs", "work.unused_macs"},
        {"products", "multiply_cycles"},
        {"divided", "busy_cycles"},
        {"parts_words", "parts of tiles busy"},
        {"parts",
         {{{"key", "multiply_cycles"}, {"name", "multiply"}, {"meaning", "the tiles multiplied"}},
          {{"key", "vector_cycles"}, {"name", "vector"}, {"meaning", "the tiles worked without weights"}}}},
        {"classes",
         {one("busy_cycles", "tiles busy", "busy", "the tiles multiplied, or did vector work"),
          one("ring_stall_cycles", "ring stall", "ring", "the tiles waited for weights from the ring"),
          one("sync_cycles", "sync", "sync", "the tiles waited for another unit"),
          one("idle_cycles", "idle", "idle", "the tiles had no instruction")}}};
}

/// The first call and a later one: the first takes until its results are in host memory; what is left is of
/// the second.
inline Expected call_of_tiles(const Facts& facts, const Place&) {
    const Json& shown = facts.report().at("call");
    const auto seconds = [&](std::uint64_t cycles) { return facts.seconds(cycles); };
    const bool is_called_twice = facts.inferences() == 2;
    const std::uint64_t cycles = facts.record().cycles;
    const std::uint64_t first = facts.record().latency.value().first;
    const double cold = seconds(first);
    const double warm = seconds(facts.record().latency.value().sum - first);
    Json call{{"cold_ms", 1e3 * cold},
              {"warm_ms", is_called_twice ? Json(1e3 * warm) : Json()},
              {"cold_joules", nullptr},
              {"warm_joules", nullptr},
              {"host",
               {{"processor", is_called_twice ? "k80" : "haswell_e5_2699_v3"},
                {"call_us", facts.number_or_0("host.call_us")},
                {"read_gb_per_s", facts.machine("host_interface.read_gb_per_s")},
                {"write_gb_per_s", facts.machine("host_interface.write_gb_per_s")}}},
              {"against", Json::array()}};
    if (!facts.has("tile_energy")) return call;
    const JoulesOf all(facts, cycles);
    const double parameters = 1e-12 * facts.number("tile_energy.host_link_pj_per_byte") *
                              static_cast<double>(facts.count("host_interface.parameter_bytes"));
    const double each = (all.dynamic() - parameters) / 2.0 + static_watts(facts) * warm;
    call["warm_joules"] = each;
    call["cold_joules"] = all.all() - each;
    for (std::size_t i = 0; i < facts.files().baselines.size(); ++i) {
        const Json& baseline = facts.files().baselines[i];
        // A program has no network of which software's speed could be expected.
        const double its = 1.0 / at_most(facts, baseline, "fp32").rate;
        const double joules = its * baseline.at("power").at("busy_watts").get<double>();
        const bool is_faster = its / warm >= 1.0;
        const bool is_thrifty = joules / each >= 1.0;
        const std::string end = is_faster && is_thrifty ? ": it belongs on this machine"
                                : is_faster             ? ": on this machine for speed alone"
                                : is_thrifty            ? ": on this machine for energy alone"
                                                        : ": it does not belong on this machine";
        const std::string sentence = shown.at("against").at(i).at("sentence");
        const std::string begin = "three_layers, warm call: ";
        call["against"].push_back(
            {{"baseline", baseline.at("name")},
             {"basis", "upper bound"},
             {"ms", 1e3 * its},
             {"joules", joules},
             {"speedup", its / warm},
             {"inferences_per_joule", joules / each},
             {"sentence", sentence.starts_with(begin) && sentence.ends_with(end) ? sentence : begin + end}});
    }
    return call;
}

/// What the reports of machines with tiles have of their own.
inline Rows rows_of_tiles() {
    const auto count = [](auto... paths) {
        return [paths...](const Facts& facts, const Place&) { return Expected((facts.count(paths) + ...)); };
    };
    const auto utilization = [](std::size_t path) {
        return [path](const Facts& facts, const Place&) {
            const PathFigures figures = paths_of_tiles(facts)[path];
            return share_of_path(facts, figures.moved, figures.most_a_second);
        };
    };
    const auto layer = [](auto compute) {
        return [compute](const Facts& facts, const Place& place) {
            return Expected(compute(facts, facts.tag(place.index())));
        };
    };
    return {
        {"area", [](const Facts&, const Place&) { return Expected(nullptr); }},
        {"call", call_of_tiles},
        {"cycle_classes", cycle_classes},
        {"tile_array", [](const Facts& facts, const Place&) { return Expected(tile_array(facts, {})); }},
        {"bounds",
         [](const Facts& facts, const Place&) -> Expected {
             std::uint64_t sum = 0;
             for (const run::Tag tag : facts.tags()) sum += tile_bounds(facts, tag).largest();
             return tile_bounds_json(tile_bounds(facts), quotient(static_cast<double>(facts.record().cycles),
                                                                  static_cast<double>(sum)));
         }},
        {"layers[].weight_bytes", layer([](const Facts& facts, run::Tag tag) {
             return facts.count("ring.parameter_bytes", tag) +
                    facts.count("tile_array.work.dense_bytes", tag);
         })},
        {"layers[].array_utilization", layer([](const Facts& facts, run::Tag tag) {
             const auto useful = static_cast<double>(facts.count("tile_array.work.useful_macs", tag));
             return quotient(useful,
                             useful + static_cast<double>(facts.count("tile_array.work.unused_macs", tag)));
         })},
        {"layers[].bounds", layer([](const Facts& facts, run::Tag tag) {
             const TileBounds bounds = tile_bounds(facts, tag);
             const Expected ratio = tag == 0 ? Expected(nullptr)
                                             : quotient(static_cast<double>(facts.cycles(tag)),
                                                        static_cast<double>(bounds.largest()));
             return tile_bounds_json(bounds, ratio);
         })},
        {"layers[].tile_array",
         layer([](const Facts& facts, run::Tag tag) { return tile_array(facts, std::vector{tag}); })},
        {"instruction_kinds", kinds_of_tile_instructions},
        {"traffic.host_read_bytes", count("host_interface.read_bytes")},
        {"traffic.host_write_bytes", count("host_interface.write_bytes")},
        {"traffic.parameter_bytes", count("host_interface.parameter_bytes")},
        {"traffic.streamed_bytes", count("host_interface.streamed_bytes")},
        {"traffic.instruction_bytes",
         count("host_interface.instruction_bytes", "host_interface.program_bytes")},
        {"traffic.host_read_utilization", utilization(6)},
        {"traffic.host_write_utilization", utilization(7)},
        {"traffic.parameter_utilization", utilization(8)},
        {"traffic.streamed_utilization", utilization(9)},
        {"traffic.instruction_utilization", utilization(10)},
        {"paths", paths_in_tiles},
        {"drawing", drawing_of_tiles},
        // The last byte that an instruction of three_layers.asm touches is that of the scores, of which a
        // tile has as many as lanes, at 512; its parameters end before unit 304.
        {"memory.narrow_memory_peak_bytes", [](const Facts&, const Place&) { return Expected(512 + 64); }},
        {"memory.narrow_memory_bytes",
         [](const Facts& facts, const Place&) { return Expected(facts.machine("narrow_memory.bytes")); }},
        {"memory.over_time.window_cycles",
         [](const Facts& facts, const Place&) { return Expected(window_cycles(facts)); }},
        {"memory.over_time.narrow_memory_bytes",
         [](const Facts& facts, const Place&) {
             return Expected(most_held(facts, facts.record().occupancy->values.in("narrow_memory")));
         }},
        {"memory.over_time.memories",
         [](const Facts& facts, const Place&) {
             return Expected(Json::array({{{"title", "Narrow memory of a tile"},
                                           {"figure", "narrow_memory_bytes"},
                                           {"unit", "bytes"},
                                           {"capacity", facts.machine("narrow_memory.bytes")}}}));
         }},
        {"memory.wide_memory_used_bytes", [](const Facts&, const Place&) { return Expected(304 * 64); }},
        {"memory.wide_memory_bytes",
         [](const Facts& facts, const Place&) {
             return Expected(16 * facts.machine("wide_memory.bytes").get<std::uint64_t>());
         }},
    };
}

}  // namespace systole::figures
