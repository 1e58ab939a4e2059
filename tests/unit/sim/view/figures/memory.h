#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/sim/view/figures/facts.h"
#include "tests/unit/sim/view/figures/rows.h"

/// What moved over each path, and what each memory held: docs/report.md, The machine, Memory over time, and
/// Unified-buffer map.
namespace systole::figures {

/// Bytes over what a path of so many 10^9 bytes a second moves in the run.
inline Expected share_of_path(const Facts& facts, std::uint64_t bytes, double bytes_per_second) {
    return quotient(static_cast<double>(bytes), bytes_per_second * facts.seconds());
}

inline std::uint64_t from_host(const Facts& facts) {
    return facts.count("host_interface.read_bytes") + facts.count("host_interface.weight_bytes");
}

struct PathFigures {
    std::string_view from;
    std::string_view to;
    std::string_view unit;
    std::uint64_t moved = 0;
    double most_a_second = 0.0;
};

/// On the chip, a path moves so many rows or bytes in each cycle.
inline std::vector<PathFigures> paths_of(const Facts& facts) {
    const auto count = [&](const char* counter) { return facts.count(counter); };
    const double clock = facts.clock_hz();
    const double in = facts.number("host_interface.read_gb_per_s") * 1e9;
    const double out = facts.number("host_interface.write_gb_per_s") * 1e9;
    return {
        {"systolic_data_setup", "matrix_unit", "row passes", count("matrix_unit.active_cycles"), clock},
        {"matrix_unit", "accumulators", "row passes", count("accumulators.pass_writes"), clock},
        {"accumulators", "activation_unit", "rows", count("accumulators.reads"), clock},
        {"unified_buffer", "systolic_data_setup", "rows", count("systolic_data_setup.fetches"),
         clock * facts.number("systolic_data_setup.fetches_per_cycle")},
        {"weight_memory", "weight_fifo", "bytes", count("weight_fifo.bytes"),
         facts.weight_bytes_per_second()},
        {"weight_fifo", "matrix_unit", "bytes", count("weight_fifo.shifted_bytes"),
         clock * static_cast<double>(facts.columns())},
        {"unified_buffer", "activation_unit", "rows", count("activation_unit.buffer_reads"), clock},
        {"activation_unit", "unified_buffer", "rows", count("activation_unit.buffer_writes"), clock},
        {"host_interface", "unified_buffer", "bytes", from_host(facts), in},
        {"unified_buffer", "host_interface", "bytes", count("host_interface.write_bytes"), out},
        {"host_interface", "sequencer", "bytes", count("host_interface.instruction_bytes"), in},
    };
}

inline Expected paths(const Facts& facts, const Place&) {
    Json list = Json::array();
    for (const PathFigures& path : paths_of(facts)) {
        list.push_back({{"from", path.from},
                        {"to", path.to},
                        {"moved", path.moved},
                        {"unit", path.unit},
                        {"utilization", share_of_path(facts, path.moved, path.most_a_second).value}});
    }
    return list;
}

inline std::uint64_t buffer_bytes(const Facts& facts) {
    return facts.machine("unified_buffer.rows").get<std::uint64_t>() * facts.rows();
}

/// Bytes of a memory that the program used at any time, as its unit says.
inline std::uint64_t used_bytes(const Facts& facts, std::string_view memory) {
    const auto& units = facts.record().units;
    return std::ranges::find(units, memory, &machine::UnitDescription::name)->box->filled->used_bytes;
}

/// A number of the machine file, or what docs/configuration.md has where the file says nothing.
inline double given(const Facts& facts, const std::string& key) {
    if (facts.has(key)) return facts.number(key);
    static const std::map<std::string, double> defaults{{"host_interface.latency_cycles", 0},
                                                        {"host_interface.latency_ns", 0},
                                                        {"activation_unit.latency_ns", 0},
                                                        {"systolic_data_setup.fetches_per_cycle", 1}};
    return defaults.at(key);
}

/// A line in a box: a text, and its numbers with their formats.
inline Json line_of(const std::string& text,
                    const std::vector<std::pair<double, std::string>>& numbers = {}) {
    Json list = Json::array();
    for (const auto& [number, format] : numbers) list.push_back({{"number", number}, {"format", format}});
    return {{"text", text}, {"numbers", list}};
}

inline Json latency_line(const Facts& facts, const std::string& unit) {
    const double cycles = given(facts, unit + ".latency_cycles");
    const double nanoseconds = given(facts, unit + ".latency_ns");
    const std::string counted = cycles == 1.0 ? "{} cycle" : "{} cycles";
    if (nanoseconds == 0.0) return line_of("latency " + counted, {{cycles, "count"}});
    const std::pair<double, std::string> seconds{nanoseconds * 1e-9, "s"};
    if (cycles == 0.0) return line_of("latency {}", {seconds});
    return line_of("latency " + counted + " + {}", {{cycles, "count"}, seconds});
}

/// The boxes of the machine's drawing: their place, their lines, and what their bar shows.
inline Json boxes(const Facts& facts) {
    const auto text = [&](const char* key) { return fmt::format("{}", given(facts, key)); };
    const auto box = [](const char* unit, const char* title, int column, int row, Json lines, Json bar,
                        const char* word) {
        Json object{{"unit", unit}, {"title", title}, {"column", column}, {"row", row}, {"lines", lines}};
        object.update(bar);
        object["word"] = word;
        return object;
    };
    const auto busy = [](const char* counter) { return Json{{"busy", "units." + std::string(counter)}}; };
    const auto filled = [](std::uint64_t used, std::uint64_t bytes) {
        return Json{{"filled", {{"used_bytes", used}, {"bytes", bytes}}}};
    };
    const Json none = Json::object();
    const run::ProgramFacts& program = facts.record().program;
    const auto memory_bytes = static_cast<std::uint64_t>(given(facts, "weight_memory.bytes"));
    const bool is_dram = facts.has("weight_memory.model") && facts.machine("weight_memory.model") == "dram";
    const double peak = 2.0 * static_cast<double>(facts.rows() * facts.columns()) * facts.clock_hz();
    std::string clock = fmt::format("{}", given(facts, "clock_mhz"));
    return {
        box("matrix_unit", "Matrix unit", 3, 1,
            {line_of(fmt::format("{} × {} at {} MHz", facts.rows(), facts.columns(), clock)),
             line_of("peak {}", {{peak, "OPS"}})},
            busy("matrix_unit.active_cycles"), "active"),
        box("accumulators", "Accumulators", 3, 2,
            {line_of(fmt::format("{{}} rows of {} × 32 bit", facts.columns()),
                     {{given(facts, "accumulators.rows"), "count"}}),
             line_of(text("accumulators.banks") + " banks, " + text("accumulators.ports") + " ports")},
            none, "busy"),
        box("unified_buffer", "Unified buffer", 1, 1,
            {line_of(fmt::format("{{}}, rows of {} B", facts.rows()),
                     {{static_cast<double>(buffer_bytes(facts)), "bytes"}}),
             line_of(text("unified_buffer.read_ports") + " ports to read, " +
                     text("unified_buffer.write_ports") + " to write")},
            filled(used_bytes(facts, "unified_buffer"), buffer_bytes(facts)), "ever used"),
        box("systolic_data_setup", "Systolic data setup", 2, 1,
            {line_of(text("systolic_data_setup.fetches_per_cycle") + " fetch a cycle")},
            busy("systolic_data_setup.busy_cycles"), "busy"),
        box("weight_fifo", "Weight FIFO", 3, 0,
            {line_of(text("weight_fifo.depth_tiles") + " tiles of {}",
                     {{static_cast<double>(facts.rows() * facts.columns()), "bytes"}})},
            none, "busy"),
        box("activation_unit", "Activation unit", 2, 2,
            {line_of("one row a cycle"), latency_line(facts, "activation_unit")},
            busy("activation_unit.busy_cycles"), "busy"),
        box("host_interface", "Host interface", 0, 1,
            {line_of("in {}, out {}", {{given(facts, "host_interface.read_gb_per_s") * 1e9, "B/s"},
                                       {given(facts, "host_interface.write_gb_per_s") * 1e9, "B/s"}}),
             latency_line(facts, "host_interface")},
            busy("host_read.busy_cycles"), "reading"),
        box("sequencer", "Sequencer", 0, 0,
            {line_of("{} instructions", {{static_cast<double>(program.instructions), "count"}}),
             line_of("buffer of {}", {{given(facts, "sequencer.instruction_buffer_bytes"), "bytes"}})},
            busy("sequencer.busy_cycles"), "busy"),
        box("weight_memory", "Weight memory", 2, 0,
            {line_of("{}", {{static_cast<double>(memory_bytes), "bytes"}}),
             is_dram ? line_of("DRAM timing")
                     : line_of("{}", {{given(facts, "weight_memory.bandwidth_gb_per_s") * 1e9, "B/s"}})},
            filled(program.memory_bytes - program.spilled_bytes, memory_bytes), "filled"),
    };
}

/// Every box, and every path between two of them with a side for its figures.
inline Expected drawing(const Facts& facts, const Place&) {
    const Json& shown = facts.report().at("drawing");
    Json routes = Json::array();
    std::size_t next = 0;
    for (const PathFigures& path : paths_of(facts)) {
        Json route{{"from", path.from}, {"to", path.to}};
        // The rest is how it looks.
        const Json& its = shown.at("routes").at(next++);
        for (const char* const key : {"figures", "shift"}) route[key] = its.at(key);
        routes.push_back(std::move(route));
    }
    return Json{{"boxes", boxes(facts)}, {"routes", routes}};
}

/// A chart has at most this many points.
constexpr std::uint64_t most_windows = 500;

inline std::uint64_t window_cycles(const Facts& facts) {
    std::uint64_t window = 1;
    while ((facts.record().cycles + window - 1) / window > most_windows) window *= 2;
    return window;
}

/// The most rows that values hold at once, in each window: cycle by cycle.
inline std::vector<std::uint64_t> most_held(const Facts& facts, const std::vector<run::RowValue>& values) {
    const std::uint64_t cycles = facts.record().cycles;
    std::vector<std::int64_t> changes(cycles + 1);
    for (const run::RowValue& value : values) {
        const std::uint64_t end = std::min(value.end, cycles);
        if (value.begin >= end) continue;
        const auto rows = static_cast<std::int64_t>(value.rows.last - value.rows.first);
        changes[value.begin] += rows;
        changes[end] -= rows;
    }
    const std::uint64_t window = window_cycles(facts);
    std::vector<std::uint64_t> most((cycles + window - 1) / window);
    std::int64_t held = 0;
    for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
        held += changes[cycle];
        most[cycle / window] = std::max(most[cycle / window], static_cast<std::uint64_t>(held));
    }
    return most;
}

/// Every value of the record lies in a step of its name, as long as the value, to one step of time; the rows
/// of the steps are those of the values, none more.
inline std::string fault_of_map(const Facts& facts, const Json& map) {
    const run::MemoryValues& values = facts.record().occupancy->values;
    const std::uint64_t cycles = facts.record().cycles;
    const std::uint64_t tolerance = cycles / most_windows;
    if (map.at("until") != cycles || map.at("step_cycles") != tolerance || map.at("left_out") != 0) {
        return "a map of the whole run";
    }
    struct Step {
        std::string name;
        std::uint64_t first, rows, begin, end;
        bool has_begin = false;
        bool has_end = false;
    };
    std::vector<Step> steps;
    std::uint64_t rows = 0;
    std::uint64_t before = 0;
    for (const Json& value : map.at("values")) {
        std::uint64_t begin = cycles;
        for (const Json& step : value.at("steps")) {
            steps.push_back(
                {value.at("name"), step.at("first_row"), step.at("rows"), step.at("begin"), step.at("end")});
            rows += steps.back().rows;
            begin = std::min(begin, steps.back().begin);
        }
        if (begin < before) return "values in the order of their first write";
        before = begin;
    }
    for (const run::RowValue& value : values.in("unified_buffer")) {
        const std::uint64_t end = std::min(value.end, cycles);
        rows -= value.rows.last - value.rows.first;
        bool is_found = false;
        for (Step& step : steps) {
            if (step.name != values.writers.at(value.writer) || step.first > value.rows.first ||
                step.first + step.rows < value.rows.last || step.begin > value.begin || step.end < end ||
                value.begin - step.begin > tolerance || step.end - end > tolerance) {
                continue;
            }
            is_found = true;
            step.has_begin = step.has_begin || step.begin == value.begin;
            step.has_end = step.has_end || step.end == end;
        }
        if (!is_found) {
            return "a step of " + values.writers.at(value.writer) + " for rows " +
                   std::to_string(value.rows.first) + " to " + std::to_string(value.rows.last) + ", cycles " +
                   std::to_string(value.begin) + " to " + std::to_string(end);
        }
    }
    if (rows != 0) return "as many rows as the values";
    for (const Step& step : steps) {
        if (!step.has_begin || !step.has_end) return "a step that begins and ends with a value";
    }
    return {};
}

inline Rows rows_of_memory() {
    const auto count = [](auto... paths) {
        return [paths...](const Facts& facts, const Place&) { return Expected((facts.count(paths) + ...)); };
    };
    const auto utilization = [](std::size_t path) {
        return [path](const Facts& facts, const Place&) {
            const PathFigures figures = paths_of(facts)[path];
            return share_of_path(facts, figures.moved, figures.most_a_second);
        };
    };
    return {
        {"traffic.weight_bytes", count("weight_fifo.bytes")},
        {"traffic.host_read_bytes", count("host_interface.read_bytes", "host_interface.weight_bytes")},
        {"traffic.host_write_bytes", count("host_interface.write_bytes")},
        {"traffic.instruction_bytes", count("host_interface.instruction_bytes")},
        {"traffic.weight_utilization", utilization(4)},
        {"traffic.host_read_utilization", utilization(8)},
        {"traffic.host_write_utilization", utilization(9)},
        {"traffic.instruction_utilization", utilization(10)},
        {"paths", paths},
        {"drawing", drawing},
        {"memory.unified_buffer_peak_bytes",
         [](const Facts& facts, const Place&) { return Expected(used_bytes(facts, "unified_buffer")); }},
        {"memory.unified_buffer_bytes",
         [](const Facts& facts, const Place&) { return Expected(buffer_bytes(facts)); }},
        {"memory.weight_memory_used_bytes",
         [](const Facts& facts, const Place&) {
             const run::ProgramFacts& program = facts.record().program;
             return Expected(program.memory_bytes - program.spilled_bytes);
         }},
        {"memory.weight_memory_bytes",
         [](const Facts& facts, const Place&) { return Expected(facts.machine("weight_memory.bytes")); }},
        {"memory.spilled_weight_bytes",
         [](const Facts& facts, const Place&) -> Expected {
             // All tiles that do not fit, whole.
             const run::ProgramFacts& program = facts.record().program;
             const std::uint64_t tile = facts.rows() * facts.columns();
             const std::uint64_t room =
                 facts.machine("weight_memory.bytes").get<std::uint64_t>() / tile * tile;
             return program.memory_bytes - std::min(program.memory_bytes, room);
         }},
        {"memory.cut_images",
         [](const Facts& facts, const Place&) -> Expected {
             if (!facts.record().cut_images) return absent();
             const machine::CutImages& cut = *facts.record().cut_images;
             return Json{{"cut_layers", cut.cut_layers},
                         {"strips", cut.strips},
                         {"extra_macs", cut.extra_macs},
                         {"spilled", cut.spilled},
                         {"spilled_bytes", cut.spilled_bytes}};
         }},
        {"memory.over_time.window_cycles",
         [](const Facts& facts, const Place&) { return Expected(window_cycles(facts)); }},
        {"memory.over_time.unified_buffer_bytes",
         [](const Facts& facts, const Place&) {
             std::vector<std::uint64_t> held =
                 most_held(facts, facts.record().occupancy->values.in("unified_buffer"));
             for (std::uint64_t& rows : held)
                 rows *= facts.rows();  // a row has a byte for each row of the array
             return Expected(held);
         }},
        {"memory.over_time.accumulator_rows",
         [](const Facts& facts, const Place&) {
             return Expected(most_held(facts, facts.record().occupancy->values.in("accumulators")));
         }},
        {"memory.over_time.weight_fifo_tiles",
         [](const Facts& facts, const Place&) {
             return Expected(facts.record().occupancy->most_held.at(0).windows);
         }},
        {"memory.over_time.memories",
         [](const Facts& facts, const Place&) {
             return Expected(Json::array(
                 {{{"title", "Unified buffer"},
                   {"figure", "unified_buffer_bytes"},
                   {"unit", "bytes"},
                   {"capacity", facts.machine("unified_buffer.rows").get<std::uint64_t>() * facts.rows()}},
                  {{"title", "Accumulators"},
                   {"figure", "accumulator_rows"},
                   {"unit", "rows"},
                   {"capacity", facts.machine("accumulators.rows")}},
                  {{"title", "Weight FIFO"},
                   {"figure", "weight_fifo_tiles"},
                   {"unit", "tiles"},
                   {"capacity", facts.machine("weight_fifo.depth_tiles")}}}));
         }},
        {"memory.unified_buffer_map",
         [](const Facts& facts, const Place&) {
             const Json& map = facts.report().at("memory").at("unified_buffer_map");
             const std::string fault = fault_of_map(facts, map);
             return fault.empty() ? Expected(map) : Expected(fault);
         }},
    };
}

}  // namespace systole::figures
