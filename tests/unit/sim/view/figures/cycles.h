#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arithmetic.h"
#include "tests/unit/sim/view/figures/facts.h"
#include "tests/unit/sim/view/figures/rows.h"
#include "tests/unit/sim/view/figures/runs.h"

/// Where the cycles of the run and of each layer went, and what they are at least: docs/report.md, Where the
/// cycles went, and Bounds.
namespace systole::figures {

/// All counters of the matrix unit, with the reasons for its non-matrix cycles, in all or of some tags.
inline Json matrix_unit(const Facts& facts, const std::optional<std::vector<run::Tag>>& tags) {
    const auto value = [&](const std::string& path) {
        if (!tags) return facts.count(path);
        std::uint64_t sum = 0;
        for (const run::Tag tag : *tags) sum += facts.count(path, tag);
        return sum;
    };
    Json unit{{"non_matrix_reasons", Json::object()}};
    const std::string_view of_unit = "matrix_unit.";
    const std::string_view of_reasons = "matrix_unit.non_matrix_reasons.";
    for (const run::Counter& counter : facts.record().counters.all) {
        if (counter.path.starts_with(of_reasons)) {
            unit["non_matrix_reasons"][counter.path.substr(of_reasons.size())] = value(counter.path);
        } else if (counter.path.starts_with(of_unit)) {
            unit[counter.path.substr(of_unit.size())] = value(counter.path);
        }
    }
    return unit;
}

/// Whole cycles in which this many bytes pass at a rate in 10^9 bytes a second: rounded down, it is a lower
/// bound.
inline std::uint64_t whole_cycles(const Facts& facts, std::uint64_t bytes, double gb_per_s) {
    const auto bytes_a_second = static_cast<std::uint64_t>(std::llround(gb_per_s * 1e9));
    return static_cast<std::uint64_t>(
        multiply_divide(bytes, static_cast<std::uint64_t>(facts.clock_hz()), bytes_a_second));
}

/// Passes through the array of a row: one for each byte of a number; weights have one byte here.
inline std::uint64_t passes(const Facts& facts) {
    const Json& network = facts.files().network;
    return network.is_null() ? 1 : network.value("activation_bits", 8U) / 8;
}

struct BoundCycles {
    std::uint64_t macs = 0;
    std::uint64_t array = 0;
    std::uint64_t data_setup = 0;
    std::uint64_t weight_memory = 0;
    std::uint64_t host_link = 0;
    std::uint64_t activation = 0;

    std::uint64_t largest() const {
        return std::max({array, data_setup, weight_memory, host_link, activation});
    }
};

/// The layer that reads the network's input, or writes its output: the first or the last that the chip works
/// on.
inline run::Tag end_layer(const Facts& facts, bool first) {
    run::Tag found = 0;
    for (std::size_t number = 1; number <= facts.layers(); ++number) {
        const auto tag = static_cast<run::Tag>(number);
        if (facts.count("matrix_unit.active_cycles", tag) + facts.count("activation_unit.busy_cycles", tag) ==
            0)
            continue;
        if (!first || found == 0) found = tag;
    }
    return found;
}

/// The bounds of the run, or of a layer.
inline BoundCycles bounds_of(const Facts& facts, std::optional<run::Tag> tag = {}) {
    BoundCycles bounds;
    const std::uint64_t cells = facts.rows() * facts.columns();
    // Work that no layer's tag has counts only for the run of a program.
    const bool counts = facts.count("matrix_unit.multiply_accumulates", tag) > 0;
    bounds.macs = counts ? (facts.needed_macs(tag) * passes(facts) + cells - 1) / cells : 0;
    bounds.array = facts.count("matrix_unit.active_cycles", tag);
    bounds.data_setup = facts.count("systolic_data_setup.lines.fetch_cycles", tag);
    if (facts.is_dram()) {
        std::uint64_t clocks = 0;
        for (const char* const busy : {"data_clocks", "row_clocks", "refresh_clocks", "gap_clocks"}) {
            clocks += facts.count(std::string("weight_memory.") + busy, tag);
        }
        const double nanoseconds = facts.number("weight_memory.dram.clock_ns") * static_cast<double>(clocks);
        const auto channels = facts.machine("weight_memory.dram.channels").get<std::uint64_t>();
        const auto in_all = static_cast<std::uint64_t>(nanoseconds * facts.clock_hz() / 1e9);
        bounds.weight_memory = in_all / channels;
    } else {
        const std::uint64_t taken = facts.count("weight_fifo.shifted_bytes", tag);
        const std::uint64_t spilled = facts.count("weight_fifo.spilled_bytes", tag);
        bounds.weight_memory = whole_cycles(facts, taken - std::min(taken, spilled),
                                            facts.number("weight_memory.bandwidth_gb_per_s"));
    }
    const auto data_in = [&](std::optional<run::Tag> of) {
        return facts.count("host_interface.read_bytes", of) + facts.count("host_interface.weight_bytes", of);
    };
    const auto data_out = [&](std::optional<run::Tag> of) {
        return facts.count("host_interface.write_bytes", of);
    };
    // The network's inputs, constants and outputs have no tag: they are of the first and the last layer.
    std::uint64_t in = tag == run::Tag{0} ? 0 : data_in(tag);
    std::uint64_t out = tag == run::Tag{0} ? 0 : data_out(tag);
    if (tag == end_layer(facts, true)) in += data_in(run::Tag{0});
    if (tag == end_layer(facts, false)) out += data_out(run::Tag{0});
    in += facts.count("host_interface.instruction_bytes", tag);
    bounds.host_link = std::max(whole_cycles(facts, in, facts.number("host_interface.read_gb_per_s")),
                                whole_cycles(facts, out, facts.number("host_interface.write_gb_per_s")));
    bounds.activation = facts.count("activation_unit.busy_cycles", tag);
    return bounds;
}

inline Json bounds_json(const BoundCycles& bounds, const Expected& ratio) {
    return {{"macs", bounds.macs},
            {"array", bounds.array},
            {"data_setup", bounds.data_setup},
            {"weight_memory", bounds.weight_memory},
            {"host_link", bounds.host_link},
            {"activation", bounds.activation},
            {"ratio", ratio.value},
            {"fill", quotient(static_cast<double>(bounds.macs), static_cast<double>(bounds.array)).value}};
}

inline Expected bounds_of_run(const Facts& facts, const Place&) {
    std::uint64_t sum = 0;
    for (const run::Tag tag : facts.tags()) sum += bounds_of(facts, tag).largest();
    return bounds_json(bounds_of(facts),
                       quotient(static_cast<double>(facts.record().cycles), static_cast<double>(sum)));
}

inline Expected bounds_of_layer(const Facts& facts, const Place& place) {
    const run::Tag tag = facts.tag(place.index());
    const BoundCycles bounds = bounds_of(facts, tag);
    const Expected ratio =
        tag == 0 ? Expected(nullptr)
                 : quotient(static_cast<double>(facts.cycles(tag)), static_cast<double>(bounds.largest()));
    return bounds_json(bounds, ratio);
}

/// The cycles by kind of matrix instruction: those of a layer are of the kind that its instructions have.
inline std::map<std::string, std::vector<run::Tag>> tags_by_instruction(const Facts& facts) {
    std::map<std::string, std::vector<run::Tag>> tags;
    const std::vector<run::TagFacts>& all = facts.record().program.tags;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto tag = static_cast<run::Tag>(i);
        if (all[i].executed > 0 || facts.cycles(tag) > 0) tags[all[i].instruction].push_back(tag);
    }
    return tags;
}

inline Expected instruction_kinds(const Facts& facts, const Place&) {
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
                         {"matrix_unit", matrix_unit(facts, tags)}});
    }
    return kinds;
}

inline Rows rows_of_cycles() {
    const auto layer = [](auto compute) {
        return [compute](const Facts& facts, const Place& place) {
            return Expected(compute(facts, facts.tag(place.index())));
        };
    };
    return {
        {"matrix_unit", [](const Facts& facts, const Place&) { return Expected(matrix_unit(facts, {})); }},
        {"bounds", bounds_of_run},
        {"layers#", [](const Facts& facts, const Place&) { return Expected(facts.tags().size()); }},
        {"layers[].name", layer([](const Facts& facts, run::Tag tag) {
             if (tag == 0) return std::string("(outside layers)");
             if (tag > facts.layers()) return "tag " + std::to_string(tag);
             return facts.record().program.layers[tag - 1U].name;
         })},
        {"layers[].kind", layer([](const Facts& facts, run::Tag tag) {
             return tag == 0 || tag > facts.layers() ? "" : facts.record().program.layers[tag - 1U].kind;
         })},
        {"layers[].cycles", layer([](const Facts& facts, run::Tag tag) { return facts.cycles(tag); })},
        {"layers[].share", layer([](const Facts& facts, run::Tag tag) {
             return quotient(static_cast<double>(facts.cycles(tag)),
                             static_cast<double>(facts.record().cycles));
         })},
        {"layers[].array_utilization", layer([](const Facts& facts, run::Tag tag) {
             const auto useful = static_cast<double>(facts.count("matrix_unit.useful_macs", tag));
             return quotient(useful,
                             useful + static_cast<double>(facts.count("matrix_unit.unused_macs", tag)));
         })},
        {"layers[].macs_per_inference", layer([](const Facts& facts, run::Tag tag) {
             return tag == 0 || tag > facts.layers() ? std::uint64_t{0}
                                                     : facts.record().program.layers[tag - 1U].macs;
         })},
        {"layers[].weight_bytes",
         layer([](const Facts& facts, run::Tag tag) { return fetched_bytes(facts, tag); })},
        {"layers[].achieved_tops", layer([](const Facts& facts, run::Tag tag) {
             return tops(facts.needed_macs(tag), facts.seconds(facts.cycles(tag)));
         })},
        {"layers[].roofline", layer([](const Facts& facts, run::Tag tag) {
             return roofline(facts, facts.needed_macs(tag), fetched_bytes(facts, tag));
         })},
        {"layers[].bounds", bounds_of_layer},
        {"layers[].matrix_unit",
         layer([](const Facts& facts, run::Tag tag) { return matrix_unit(facts, std::vector{tag}); })},
        {"instruction_kinds", instruction_kinds},
    };
}

}  // namespace systole::figures
