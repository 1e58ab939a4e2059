#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/sim/view/figures/area.h"
#include "tests/unit/sim/view/figures/facts.h"
#include "tests/unit/sim/view/figures/rows.h"
#include "tests/unit/sim/view/figures/words.h"

/// Joules of the run and of each layer, and watts over time: docs/energy.md, and the end of docs/area.md.
namespace systole::figures {

/// The voltage of the machine's clock over that of the chip whose energies these are: clock ~ (V - Vt)^1.3 /
/// V.
inline double clock_of_voltage(double volts) {
    return std::pow((volts - 0.4) / 0.6, 1.3) / volts;
}

inline std::optional<double> voltage(const Facts& facts) {
    if (!facts.has("power.clock_mhz")) return 1.0;
    const double wanted = facts.number("clock_mhz") / facts.number("power.clock_mhz");
    if (wanted > clock_of_voltage(1.2)) return std::nullopt;
    if (wanted == 1.0) return 1.0;
    double low = 0.7;
    double high = 1.2;
    while (high - low > 1e-15) (clock_of_voltage((low + high) / 2) < wanted ? low : high) = (low + high) / 2;
    return high;
}

/// Whether the energy of the run is known: by event or, without a section `energy`, by published watts.
inline bool gives_events(const Facts& facts) {
    return facts.has("energy") || facts.has("tile_energy");
}
inline bool has_events(const Facts& facts) {
    return gives_events(facts) && voltage(facts);
}
inline bool has_energy(const Facts& facts) {
    return gives_events(facts) ? has_events(facts) : facts.number_or_0("power.busy_watts") > 0.0;
}

inline double static_watts(const Facts& facts) {
    const double idle = facts.number_or_0("power.idle_watts");
    if (facts.has("tile_energy")) {
        return idle * *voltage(facts) * *voltage(facts) + facts.number("tile_energy.board_watts");
    }
    if (!facts.has("energy")) return idle;
    const double square = *voltage(facts) * *voltage(facts);
    const double measured = facts.number_or_0("power.die_mm2");
    return idle * square * (measured > 0.0 ? area_of_die(facts).mm2 / measured : 1.0);
}

/// Jouppi et al., ISCA 2021, Table 2, in 45 nm and in 7 nm: between them linearly on logarithmic axes.
inline double picojoules(double at_45, double at_7, double nm) {
    const double part = (std::log(nm) - std::log(7.0)) / (std::log(45.0) - std::log(7.0));
    return std::exp(std::log(at_7) + part * (std::log(at_45) - std::log(at_7)));
}

/// 64 bits of an SRAM: 8 KB, 32 KB and 1 MB are published.
inline double sram_word(double bytes, double nm) {
    constexpr double kib = 1024.0;
    const double at_8 = picojoules(10.0, 7.5, nm);
    const double at_32 = picojoules(20.0, 8.5, nm);
    const double at_1024 = picojoules(100.0, 14.0, nm);
    const double log = std::log(std::max(bytes, 8 * kib));
    const auto on_line = [&](double x0, double y0, double x1, double y1) {
        return std::exp(std::log(y0) +
                        (log - std::log(x0)) / (std::log(x1) - std::log(x0)) * std::log(y1 / y0));
    };
    return bytes < 32 * kib ? on_line(8 * kib, at_8, 32 * kib, at_32)
                            : on_line(32 * kib, at_32, 1024 * kib, at_1024);
}

/// A byte of a memory of whole rows: a slice for each 64 bits of a row.
inline double memory_byte(double bytes, double row_bytes, double nm) {
    return sram_word(bytes / std::max(1.0, row_bytes / 8), nm) / 8;
}

/// What each counted event takes, in pJ, before calibration and voltage.
struct EventOf {
    std::string unit;
    std::string during;  ///< activity; empty: any
    std::string counter;
    double picojoules = 0.0;
};

/// Of a machine with tiles: docs/energy.md, A call of the Edge TPU.
inline std::vector<EventOf> events_of_tiles(const Facts& facts) {
    const double tiles = facts.number("tile_array.lines") * facts.number("tile_array.columns");
    const double tile_cycle = tiles * facts.number("tile_energy.tile_cycle_pj");
    const double byte = facts.number("tile_energy.host_link_pj_per_byte");
    const double host_microjoules = facts.number("tile_energy.host_watts") * facts.number("host.call_us");
    std::vector<EventOf> events{
        {"tile_array", "tiles", "tile_array.work.useful_macs", facts.number("tile_energy.mac_pj")},
        {"tile_array", "tiles", "tile_array.busy_cycles", tile_cycle},
        {"ring", "ring", "ring.busy_cycles", tile_cycle},
        {"host_processor", "host_read", "host_interface.calls", 1e6 * host_microjoules},
        {"host_interface", "host_write", "host_interface.write_bytes", byte},
        {"host_interface", "", "host_interface.instruction_bytes", byte}};
    for (const char* const bytes : {"read_bytes", "parameter_bytes", "streamed_bytes", "program_bytes"}) {
        events.push_back({"host_interface", "host_read", std::string("host_interface.") + bytes, byte});
    }
    return events;
}

inline std::vector<EventOf> events_of(const Facts& facts) {
    if (facts.has_tiles()) return events_of_tiles(facts);
    const double nm = facts.number("energy.process_nm");
    const auto given = [&](const std::string& key, double by_table) {
        return facts.has("energy." + key) ? facts.number("energy." + key) : by_table;
    };
    const auto rows = static_cast<double>(facts.rows());
    const auto columns = static_cast<double>(facts.columns());
    const double add = given("int32_add_pj", picojoules(0.1, 0.03, nm));
    const double multiply = given("int32_multiply_pj", picojoules(3.1, 1.48, nm));
    const double mac = given("mac_pj", picojoules(0.2, 0.07, nm) + picojoules(0.1, 0.03, nm));
    const double buffer_row = rows * given("unified_buffer_pj_per_byte",
                                           memory_byte(facts.number("unified_buffer.rows") * rows, rows, nm));
    const double sums_row =
        4 * columns *
        given("accumulators_pj_per_byte",
              memory_byte(facts.number("accumulators.rows") * 4 * columns, 4 * columns, nm));
    const double fifo_byte =
        given("weight_fifo_pj_per_byte",
              memory_byte(facts.number("weight_fifo.depth_tiles") * rows * columns, columns, nm));
    const double instruction_byte =
        2 * given("instruction_buffer_pj_per_byte",
                  memory_byte(facts.number("sequencer.instruction_buffer_bytes"), 8, nm));
    const double host_byte = facts.number("energy.host_link_pj_per_byte");
    return {
        {"matrix_unit", "matrix", "matrix_unit.useful_macs", mac},
        {"matrix_unit", "matrix", "matrix_unit.unused_macs",
         mac * facts.number("energy.unused_mac_fraction")},
        {"accumulators", "matrix", "accumulators.pass_writes", sums_row},
        {"accumulators", "matrix", "accumulators.additions", sums_row + columns * add},
        {"accumulators", "activation", "accumulators.reads", sums_row},
        {"unified_buffer", "matrix", "systolic_data_setup.fetches", buffer_row},
        {"unified_buffer", "activation", "activation_unit.buffer_reads", buffer_row},
        {"unified_buffer", "activation", "activation_unit.buffer_writes", buffer_row},
        {"unified_buffer", "host_read", "host_interface.buffer_writes", buffer_row},
        {"unified_buffer", "host_write", "host_interface.buffer_reads", buffer_row},
        {"weight_memory", "weight_fetch", "weight_fifo.bytes",
         given("weight_memory_pj_per_byte", 1300.0 / 8)},
        {"weight_fifo", "weight_fetch", "weight_fifo.bytes", fifo_byte},
        {"weight_fifo", "weight_fetch", "weight_fifo.spilled_bytes", fifo_byte},
        {"weight_fifo", "weight_shift", "weight_fifo.shifted_bytes", fifo_byte},
        {"activation_unit", "activation", "activation_unit.elements", multiply + 2 * add},
        {"activation_unit", "activation", "activation_unit.operand_elements", multiply + add},
        {"activation_unit", "activation", "activation_unit.pooled_elements", add},
        {"activation_unit", "activation", "activation_unit.lookups", picojoules(10.0, 7.5, nm) / 8},
        {"host_interface", "host_read", "host_interface.read_bytes", host_byte},
        {"host_interface", "weight_fetch", "host_interface.weight_bytes", host_byte},
        {"host_interface", "host_write", "host_interface.write_bytes", host_byte},
        {"host_interface", "", "host_interface.instruction_bytes", host_byte},
        {"sequencer", "", "host_interface.instruction_bytes", instruction_byte},
    };
}

/// Joules by unit. Calibration and voltage are those of the die: weight memory is beside it.
class JoulesOf {
public:
    JoulesOf(const Facts& facts, std::uint64_t cycles, std::optional<run::Tag> tag = {},
             bool calibrated = true) {
        const bool has_tiles = facts.has_tiles();
        const std::vector<std::string> of_tiles{"tile_array", "ring", "host_interface", "host_processor"};
        const std::vector<std::string> of_array{"chip_static",    "matrix_unit", "accumulators",
                                                "unified_buffer", "weight_fifo", "activation_unit",
                                                "host_interface", "sequencer",   "weight_memory"};
        for (const std::string& unit : has_tiles ? of_tiles : of_array) joules_[unit] = 0.0;
        const double volts = *voltage(facts);
        const bool has_factor = calibrated && !has_tiles;
        const double die = volts * volts * (has_factor ? facts.number("energy.die_dynamic_factor") : 1.0);
        const double board = has_tiles ? facts.number("tile_energy.board_watts") : 0.0;
        const double chip = static_watts(facts) - board;
        if (board > 0.0) joules_["board"] = board * facts.seconds(cycles);
        if (chip > 0.0 || board == 0.0) joules_["chip_static"] = chip * facts.seconds(cycles);
        for (const EventOf& event : events_of(facts)) {
            const double each = 1e-12 * event.picojoules * (is_on_die(event.unit) ? die : 1.0);
            joules_[event.unit] += each * static_cast<double>(facts.count(event.counter, tag));
        }
    }

    double fixed() const { return sum(&is_fixed); }
    double dynamic() const {
        return sum([](const std::string& unit) { return !is_fixed(unit); });
    }
    double all() const { return dynamic() + fixed(); }
    double on_die() const { return sum(&is_on_die); }
    Json json() const { return joules_; }

private:
    static bool is_fixed(const std::string& unit) { return unit == "chip_static" || unit == "board"; }
    static bool is_on_die(const std::string& unit) {
        return unit != "weight_memory" && unit != "board" && unit != "host_processor";
    }
    template <class Chosen>
    double sum(Chosen is_chosen) const {
        double all = 0.0;
        for (const auto& [unit, joules] : joules_) all += is_chosen(unit) ? joules : 0.0;
        return all;
    }

    std::map<std::string, double> joules_;
};

inline JoulesOf joules_of_run(const Facts& facts, bool calibrated = true) {
    return {facts, facts.record().cycles, {}, calibrated};
}

struct RunJoules {
    double fixed = 0.0;
    double dynamic = 0.0;
    double all() const { return fixed + dynamic; }
};

/// Without a section `energy`, a run takes the busy watts.
inline RunJoules run_joules(const Facts& facts) {
    if (has_events(facts)) {
        const JoulesOf joules = joules_of_run(facts);
        return {joules.fixed(), joules.dynamic()};
    }
    const double idle = facts.number_or_0("power.idle_watts");
    return {idle * facts.seconds(), (facts.number("power.busy_watts") - idle) * facts.seconds()};
}

/// The energy of each layer and unit is spread over the cycles in which the unit worked for the layer; where
/// it never worked, over the run.
inline Expected power_over_time(const Facts& facts, const Place&) {
    const auto windows = facts.files().run.value("power_windows", std::uint64_t{0});
    if (windows == 0 || !has_events(facts)) return absent();
    const std::uint64_t cycles = facts.record().cycles;
    const std::uint64_t length = (cycles + windows - 1) / windows;
    const std::uint64_t count = (cycles + length - 1) / length;
    const double volts = *voltage(facts);
    const bool has_tiles = facts.has_tiles();
    const double die = volts * volts * (has_tiles ? 1.0 : facts.number("energy.die_dynamic_factor"));
    const double board = has_tiles ? facts.number("tile_energy.board_watts") : 0.0;
    Json watts;
    const Json units = JoulesOf(facts, cycles).json();
    for (const auto& [unit, joules] : units.items()) watts[unit] = Json::array();
    for (std::uint64_t window = 0; window < count; ++window) {
        const std::uint64_t begin = window * length;
        const std::uint64_t end = std::min(cycles, begin + length);
        std::map<std::string, double> joules;
        for (const EventOf& event : events_of(facts)) {
            const bool is_on_die = event.unit != "weight_memory" && event.unit != "host_processor";
            const double each = 1e-12 * event.picojoules * (is_on_die ? die : 1.0);
            for (const run::Counter& counter : facts.record().counters.all) {
                if (counter.path != event.counter) continue;
                for (std::size_t tag = 0; tag < counter.by_tag.size(); ++tag) {
                    std::uint64_t worked = 0;
                    std::uint64_t here = 0;
                    for (const run::WorkInterval& work : facts.record().work.intervals) {
                        const std::string& activity = facts.record().work.activities.at(work.activity);
                        if (activity != event.during || work.tag != tag) continue;
                        const std::uint64_t until = std::min(work.end, cycles);
                        if (work.begin >= until) continue;
                        worked += until - work.begin;
                        const std::uint64_t from = std::max(work.begin, begin);
                        here += std::max(from, std::min(until, end)) - from;
                    }
                    const double part = worked > 0
                                            ? static_cast<double>(here) / static_cast<double>(worked)
                                            : static_cast<double>(end - begin) / static_cast<double>(cycles);
                    joules[event.unit] += each * static_cast<double>(counter.by_tag[tag]) * part;
                }
            }
        }
        joules["chip_static"] = (static_watts(facts) - board) * facts.seconds(end - begin);
        joules["board"] = board * facts.seconds(end - begin);
        for (auto& [unit, list] : watts.items()) list.push_back(joules[unit] / facts.seconds(end - begin));
    }
    return Json{{"window_cycles", length}, {"watts", watts}};
}

inline bool is_changed(const Facts& facts, const std::string& key) {
    for (const run::LabelledSetting& setting : facts.record().spec.labels.machine_settings) {
        if (setting.key == key) return true;
    }
    return false;
}

/// Sentences where array or clock differ from those of the chip that the watts are of; their numbers.
inline Expected notes(const Facts& facts, const Place&) {
    const Json& shown = facts.report().at("energy").at("notes");
    std::vector<std::vector<double>> numbers;
    const double clock = facts.number("clock_mhz");
    const double watts_clock = facts.number_or_0("power.clock_mhz");
    if (facts.has("energy") && !voltage(facts)) {
        double most = watts_clock * clock_of_voltage(1.2);
        numbers.push_back({clock, 1.2, watts_clock, most});
    } else if (!has_energy(facts)) {
        numbers.emplace_back();
    } else {
        const double watts = facts.number_or_0(facts.has("energy") ? "power.idle_watts" : "power.busy_watts");
        const auto rows = facts.has_tiles() ? 0.0 : static_cast<double>(facts.rows());
        const auto columns = facts.has_tiles() ? 0.0 : static_cast<double>(facts.columns());
        const double measured = facts.number_or_0("power.die_mm2");
        const bool knows_array = facts.has("power.array_rows");
        const bool other_array =
            knows_array
                ? facts.number("power.array_rows") != rows || facts.number("power.array_columns") != columns
                : is_changed(facts, "matrix_unit.rows") || is_changed(facts, "matrix_unit.columns");
        if (facts.has("energy") && measured > 0.0) {
            const Mm2 die = area_of_die(facts);
            if (std::abs(die.mm2 / measured - 1.0) > 0.005)
                numbers.push_back({watts, measured, die.mm2, die.low, die.high});
        } else if (other_array && knows_array) {
            numbers.push_back({watts, facts.number("power.array_rows"), facts.number("power.array_columns"),
                               rows, columns});
        } else if (other_array) {
            numbers.push_back({watts, rows, columns});
        }
        if (watts_clock > 0.0 && watts_clock != clock && facts.has("energy")) {
            numbers.push_back({*voltage(facts), watts_clock});
            const double least = watts_clock * clock_of_voltage(0.7);
            if (clock < least) numbers.back().push_back(least);
        } else if (watts_clock > 0.0 && watts_clock != clock) {
            numbers.push_back({watts, watts_clock, clock});
        } else if (watts_clock == 0.0 && is_changed(facts, "clock_mhz")) {
            numbers.push_back({watts, clock});
        }
    }
    Json expected = Json::array();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::string text = i < shown.size() ? shown[i].get<std::string>() : std::string();
        expected.push_back(words_with_all(text, numbers[i]));
    }
    return expected;
}

inline Rows rows_of_energy() {
    const auto known = [](auto compute) {
        return [compute](const Facts& facts, const Place&) {
            return has_energy(facts) ? Expected(compute(facts)) : Expected(nullptr);
        };
    };
    // Figures that only events give: null where no energy is known, absent where it is that of published
    // watts.
    const auto of_events = [](auto compute) {
        return [compute](const Facts& facts, const Place&) {
            if (has_events(facts)) return Expected(compute(facts));
            return has_energy(facts) ? absent() : Expected(nullptr);
        };
    };
    const auto of_factor = [&of_events](auto compute) {
        return [of = of_events(compute)](const Facts& facts, const Place& place) {
            return facts.has("tile_energy") ? absent() : of(facts, place);
        };
    };
    return {
        {"energy.joules", known([](const Facts& facts) { return run_joules(facts).all(); })},
        {"energy.static_joules", known([](const Facts& facts) { return run_joules(facts).fixed; })},
        {"energy.dynamic_joules", known([](const Facts& facts) {
             Expected joules = run_joules(facts).dynamic;
             joules.size = run_joules(facts).all();
             return joules;
         })},
        {"energy.joules_per_inference", known([](const Facts& facts) {
             if (!facts.chip_computes()) return Json();
             return quotient(run_joules(facts).all(), static_cast<double>(facts.inferences())).value;
         })},
        {"energy.watts", known([](const Facts& facts) { return run_joules(facts).all() / facts.seconds(); })},
        {"energy.by_unit", known([](const Facts& facts) {
             if (has_events(facts)) return joules_of_run(facts).json();
             const RunJoules joules = run_joules(facts);
             return Json{{"chip_static", joules.fixed}, {"chip_dynamic", joules.dynamic}};
         })},
        {"energy.static_watts", known([](const Facts& facts) { return static_watts(facts); })},
        {"energy.voltage",
         known([](const Facts& facts) { return gives_events(facts) ? *voltage(facts) : 1.0; })},
        {"energy.notes", notes},
        {"energy.die_watts",
         of_events([](const Facts& facts) { return joules_of_run(facts).on_die() / facts.seconds(); })},
        {"energy.published_busy_watts", of_events([](const Facts& facts) {
             const double watts = facts.number_or_0("power.busy_watts");
             return watts > 0.0 ? Json(watts) : Json();
         })},
        {"energy.die_dynamic_factor",
         of_factor([](const Facts& facts) { return facts.number("energy.die_dynamic_factor"); })},
        {"energy.uncalibrated", of_factor([](const Facts& facts) {
             const JoulesOf joules = joules_of_run(facts, false);
             return Json{{"joules", joules.all()}, {"die_watts", joules.on_die() / facts.seconds()}};
         })},
        {"energy.power_over_time", power_over_time},
        {"layers[].energy",
         [](const Facts& facts, const Place& place) -> Expected {
             if (!has_events(facts)) return nullptr;
             const run::Tag tag = facts.tag(place.index());
             const JoulesOf joules(facts, facts.cycles(tag), tag);
             Expected energy = Json{{"joules", joules.all()},
                                    {"static_joules", joules.fixed()},
                                    {"dynamic_joules", joules.dynamic()},
                                    {"by_unit", joules.json()}};
             return energy;
         }},
    };
}

}  // namespace systole::figures
