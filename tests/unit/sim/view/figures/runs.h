#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/sim/view/figures/facts.h"
#include "tests/unit/sim/view/figures/rows.h"
#include "tests/unit/sim/view/figures/words.h"

/// What a run is, how long it takes, and how fast that is: docs/report.md.
namespace systole::figures {

/// 10^12 operations a second; a multiply-accumulate counts two.
inline Expected tops(std::uint64_t macs, double seconds) {
    return quotient(2.0 * static_cast<double>(macs) / 1e12, seconds);
}

inline double peak_tops(const Facts& facts) {
    return 2.0 * static_cast<double>(facts.macs_a_cycle()) * facts.clock_hz() / 1e12;
}

/// Weight bandwidth bounds to the left of the ridge, the array to the right (report.md, Roofline).
inline Expected roofline(const Facts& facts, std::uint64_t macs, std::uint64_t weight_bytes) {
    if (weight_bytes == 0) return nullptr;
    const double intensity = static_cast<double>(macs) / static_cast<double>(weight_bytes);
    const double peak = peak_tops(facts);
    const double tops_a_mac_a_byte = 2.0 * facts.weight_bytes_per_second() / 1e12;
    return Json{{"macs_per_weight_byte", intensity},
                {"ridge_macs_per_weight_byte", peak / tops_a_mac_a_byte},
                {"bound_tops", std::min(peak, intensity * tops_a_mac_a_byte)},
                {"peak_tops", peak}};
}

/// Weights that were fetched, from weight memory or over the host link.
inline std::uint64_t fetched_bytes(const Facts& facts, std::optional<run::Tag> tag = {}) {
    return facts.count("weight_fifo.bytes", tag) + facts.count("weight_fifo.spilled_bytes", tag);
}

/// Words that say how the batch was cut: their numbers are those of the keys beside them.
inline Expected batching_text(const Facts& facts, const Place&) {
    const Json& keys = facts.report().at("batching");
    const std::string text = keys.at("text");
    const std::uint64_t slices = keys.at("slices");
    const std::uint64_t grouped_layers = keys.at("grouped_layers");
    if (slices == 1 && grouped_layers == 0) return "";
    std::vector<double> known;
    for (const char* const key : {"images", "slices", "limit", "grouped_layers", "images_a_fetch",
                                  "fitting_batch", "fitting_images_a_fetch"}) {
        known.push_back(keys.at(key).get<double>());
    }
    known.push_back(static_cast<double>(facts.record().batch->rows_a_fetch));
    return words_with(text, known);
}

inline Rows rows_of_runs() {
    const auto batch = [](auto read) {
        return [read](const Facts& facts, const Place&) { return Expected(read(*facts.record().batch)); };
    };
    const auto only_of_chip = [](auto compute) {
        return [compute](const Facts& facts, const Place&) {
            return facts.chip_computes() ? Expected(compute(facts)) : Expected(nullptr);
        };
    };
    const auto latency = [](auto cycles) {
        return [cycles](const Facts& facts, const Place&) -> Expected {
            if (!facts.chip_computes() || !facts.record().latency) return nullptr;
            return 1e3 * cycles(facts, *facts.record().latency) / facts.clock_hz();
        };
    };
    return {
        {"schema", [](const Facts&, const Place&) { return Expected("sim.report/1"); }},
        {"machine", [](const Facts& facts, const Place&) { return Expected(facts.machine("name")); }},
        {"model",
         [](const Facts& facts, const Place&) -> Expected {
             if (!facts.files().network.is_null()) return facts.files().network.at("name");
             return facts.record().program.model;  // by its file
         }},
        {"batch",
         [](const Facts& facts, const Place&) {
             const bool is_program = facts.files().run.contains("program");
             if (facts.has_tiles()) return Expected(1);  // as the program says
             return is_program ? Expected(0) : Expected(facts.files().run.at("batch"));
         }},
        {"inferences",
         [](const Facts& facts, const Place&) -> Expected {
             const Json& run = facts.files().run;
             if (!facts.files().labels.empty()) return facts.files().labels.size();
             if (facts.has_tiles()) return facts.has("tile_energy") ? 2 : 1;  // as the program says
             return run.contains("limit") ? run.at("limit") : Json(0);
         }},
        {"batching.asked",
         [](const Facts& facts, const Place&) { return Expected(facts.files().run.at("batch")); }},
        {"batching.images", batch([](const auto& b) { return b.images; })},
        {"batching.at_a_time", batch([](const auto& b) { return b.at_a_time; })},
        {"batching.slices", batch([](const auto& b) { return (b.images + b.at_a_time - 1) / b.at_a_time; })},
        {"batching.limit", batch([](const auto& b) { return b.that_fit; })},
        {"batching.limited_by", [](const Facts&, const Place&) { return Expected("unified_buffer"); }},
        {"batching.grouped_layers", batch([](const auto& b) { return b.grouped_layers; })},
        {"batching.group", batch([](const auto& b) { return b.group; })},
        {"batching.images_a_fetch", batch([](const auto& b) { return b.images_a_fetch; })},
        {"batching.fitting_batch", batch([](const auto& b) { return b.fitting_batch; })},
        {"batching.fitting_images_a_fetch", batch([](const auto& b) { return b.fitting_images_a_fetch; })},
        {"batching.text", batching_text},
        {"cycles", [](const Facts& facts, const Place&) { return Expected(facts.record().cycles); }},
        {"seconds", [](const Facts& facts, const Place&) { return Expected(facts.seconds()); }},
        {"inferences_per_second", only_of_chip([](const Facts& facts) {
             return facts.inferences() == 0 ? Json()
                                            : Json(static_cast<double>(facts.inferences()) / facts.seconds());
         })},
        {"seconds_per_batch", only_of_chip([](const Facts& facts) {
             return quotient(facts.seconds(), static_cast<double>(facts.batches())).value;
         })},
        {"interval_ms", only_of_chip([](const Facts& facts) {
             return quotient(1e3 * facts.seconds(), static_cast<double>(facts.batches())).value;
         })},
        {"latency_ms", latency([](const Facts& facts, const run::BatchLatency& times) {
             return static_cast<double>(times.sum) / static_cast<double>(facts.batches());
         })},
        {"latency_max_ms", latency([](const Facts&, const run::BatchLatency& times) {
             return static_cast<double>(times.largest);
         })},
        {"tops.achieved",
         only_of_chip([](const Facts& facts) { return tops(facts.needed_macs(), facts.seconds()).value; })},
        {"tops.peak", [](const Facts& facts, const Place&) { return Expected(peak_tops(facts)); }},
        {"roofline", [](const Facts& facts,
                        const Place&) { return roofline(facts, facts.needed_macs(), fetched_bytes(facts)); }},
        {"timing_only", [](const Facts& facts,
                           const Place&) { return Expected(facts.files().run.value("timing_only", false)); }},
        {"instructions",
         [](const Facts& facts, const Place&) { return Expected(facts.record().program.instructions); }},
        {"simulator.wall_seconds",
         [](const Facts& facts, const Place&) { return Expected(facts.record().speed.total); }},
        {"simulator.read_seconds",
         [](const Facts& facts, const Place&) { return Expected(facts.record().speed.read); }},
        {"simulator.prepare_seconds",
         [](const Facts& facts, const Place&) { return Expected(facts.record().speed.prepare); }},
        {"simulator.simulate_seconds",
         [](const Facts& facts, const Place&) { return Expected(facts.record().speed.simulate); }},
        {"simulator.gemm_seconds",
         [](const Facts& facts, const Place&) {
             return facts.has_tiles() ? absent() : Expected(facts.record().speed.gemm.value());
         }},
        {"simulator.peak_rss_bytes",
         [](const Facts& facts, const Place&) { return Expected(facts.record().speed.peak_rss_bytes); }},
        {"simulator.simulated_cycles_per_second",
         [](const Facts& facts, const Place&) {
             return Expected(static_cast<double>(facts.record().cycles) / facts.record().speed.total);
         }},
        {"simulator.macs_per_second",
         [](const Facts& facts, const Place&) -> Expected {
             if (facts.files().run.value("timing_only", false)) return nullptr;
             return static_cast<double>(facts.count(facts.macs_counter())) / facts.record().speed.total;
         }},
    };
}

}  // namespace systole::figures
