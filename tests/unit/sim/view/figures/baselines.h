#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/sim/view/figures/facts.h"
#include "tests/unit/sim/view/figures/rows.h"
#include "tests/unit/sim/view/figures/words.h"

/// The comparison with baselines, the host's time in it, and the published claim: docs/baselines.md.
namespace systole::figures {

/// A key of a baseline's file; 0 where it is not known.
inline double key_of(const Json& baseline, std::string_view key) {
    const Json* const found = Facts::find(baseline, key);
    return found == nullptr ? 0.0 : found->get<double>();
}

/// The least and the most of a figure, as its factors.
struct Factors {
    double least = 1.0;
    double most = 1.0;
    bool is_known = false;
};

/// Both extremes at once.
inline Factors over(const Factors& ours, const Factors& its) {
    return {ours.least / its.most, ours.most / its.least, ours.is_known || its.is_known};
}

inline Json band_of(const Json& figure, const Factors& factors) {
    if (figure.is_null() || !factors.is_known) return nullptr;
    return {{"least", figure.get<double>() * factors.least}, {"most", figure.get<double>() * factors.most}};
}

inline double throughput(const Facts& facts) {
    return static_cast<double>(facts.inferences()) / facts.seconds();
}

/// Only a run that has inferences, on the chip, is compared.
inline bool is_compared(const Facts& facts) {
    return facts.inferences() > 0 && facts.chip_computes() && !facts.files().baselines.empty();
}

/// The host's time is in the chip's figures unless the run leaves it out, or the machine does not say it.
inline bool host_in_chip(const Facts& facts) {
    return facts.files().run.value("host_time", true) && facts.has("server.host_percent");
}

inline double time_with_host(const Facts& facts, const std::string& which) {
    return 1.0 + facts.number("server.host_percent." + which) / 100.0;
}

/// Inferences a second of the chip, with its host where its time is in the figures.
inline double with_host(const Facts& facts) {
    return host_in_chip(facts) ? throughput(facts) / time_with_host(facts, "typical") : throughput(facts);
}

inline Factors band_of_host(const Facts& facts) {
    if (!host_in_chip(facts)) return {};
    const double typical = time_with_host(facts, "typical");
    return {typical / time_with_host(facts, "most"), typical / time_with_host(facts, "least"), true};
}

/// Peak operations a second, and bytes of a number.
struct FormatOf {
    double operations = 0.0;
    double bytes = 0.0;
};

inline FormatOf format_named(const Json& baseline, const std::string& precision) {
    if (precision == "int8") return {key_of(baseline, "peak_int8_gops") * 1e9, 1.0};
    return {key_of(baseline, "peak_fp32_gflops") * 1e9, 4.0};
}

inline std::uint64_t inferences_together(const Facts& facts) {
    return std::min<std::uint64_t>(facts.record().program.batch, facts.inferences());
}

/// Those of the chip and of our host: a baseline computes both.
inline double macs_of_network(const Facts& facts) {
    return static_cast<double>(facts.network_macs() + facts.sum_of_host_macs());
}

/// Elements. Only arrays whose weights come in tiles have them in their cells.
inline double weights_of_network(const Facts& facts) {
    double weights = 0.0;
    if (facts.record().program.weights == 0 && facts.record().network) {
        for (const run::LayerWork& layer : facts.record().network->layers) {
            weights += static_cast<double>(layer.weights);
        }
    }
    return weights + static_cast<double>(facts.record().program.weights);
}

/// At most: operations at the peak, and one pass over the weights.
struct AtMost {
    double rate = 0.0;
    bool is_memory = false;
};

inline AtMost at_most(const Facts& facts, const Json& baseline, const std::string& precision) {
    const FormatOf format = format_named(baseline, precision);
    const auto batch = static_cast<double>(inferences_together(facts));
    const double compute = 2.0 * macs_of_network(facts) * batch / format.operations;
    const double memory =
        weights_of_network(facts) * format.bytes / (key_of(baseline, "memory_gb_per_s") * 1e9);
    return {batch / std::max(compute, memory), memory > compute};
}

/// Inferences a second of all dies over the watts of the server, ours over the baseline's.
inline Json per_watt(const Facts& facts, const Json& baseline, double its_rate) {
    const double its_watts = key_of(baseline, "server.tdp_watts");
    if (its_watts == 0.0) return {{"total", nullptr}, {"incremental", nullptr}};
    const double its_dies = baseline.at("server").value("dies", 1.0);
    const auto ratio = [&](double our, double its) -> Json {
        if (our <= 0.0 || its <= 0.0) return nullptr;
        const double our_dies = facts.has("server.dies") ? facts.number("server.dies") : 1.0;
        return with_host(facts) * our_dies / our / (its_rate * its_dies / its);
    };
    const double ours = facts.number_or_0("server.tdp_watts");
    const double our_host = facts.number_or_0("server.host_tdp_watts");
    return {{"total", ratio(ours, its_watts)},
            {"incremental", our_host == 0.0 ? Json()
                                            : ratio(ours - our_host,
                                                    its_watts - key_of(baseline, "server.host_tdp_watts"))}};
}

inline Json bands_per_watt(const Json& figures, const Factors& factors) {
    return {{"total", band_of(figures.at("total"), factors)},
            {"incremental", band_of(figures.at("incremental"), factors)}};
}

/// Ours over a figure of the baseline.
inline Json ours_over(const Facts& facts, const Json& baseline, double its_rate,
                      const Factors& its_band = {}) {
    const Factors ratios = over(band_of_host(facts), its_band);
    const double speedup = with_host(facts) / its_rate;
    const Json watts = per_watt(facts, baseline, its_rate);
    return {{"inferences_per_second", its_rate},
            {"speedup", speedup},
            {"performance_per_watt", watts},
            {"band",
             {{"inferences_per_second", band_of(its_rate, its_band)},
              {"speedup", band_of(speedup, ratios)},
              {"performance_per_watt", bands_per_watt(watts, ratios)}}}};
}

inline Factors band_of_efficiency(const Json& baseline) {
    const double least = key_of(baseline, "efficiency.least_factor");
    return {least, key_of(baseline, "efficiency.most_factor"), least > 0.0};
}

/// The model of the baseline's software: seconds(B) of docs/baselines.md.
inline Json expected_of(const Facts& facts, const Json& baseline) {
    if (!baseline.contains("efficiency") || !facts.record().network) return nullptr;
    const Json& efficiency = baseline.at("efficiency");
    const std::string precision = efficiency.at("precision");
    const FormatOf format = format_named(baseline, precision);
    std::uint64_t batch = inferences_together(facts);
    if (efficiency.contains("largest_batch"))
        batch = std::min(batch, efficiency.at("largest_batch").get<std::uint64_t>());
    double compute_seconds = 0.0;
    double memory_seconds = 0.0;
    double macs = 0.0;
    const auto b = static_cast<double>(batch);
    for (const run::LayerWork& layer : facts.record().network->layers) {
        const double compute = 2.0 * static_cast<double>(layer.macs) * b /
                               (format.operations * efficiency.at("peak_share").get<double>());
        const double activations = static_cast<double>(layer.activations) * b * format.bytes;
        const bool stay_on_die = activations <= key_of(baseline, "on_chip_mib") * 1024 * 1024;
        const double bytes =
            static_cast<double>(layer.weights) * format.bytes + (stay_on_die ? 0.0 : activations);
        const double memory =
            bytes / (key_of(baseline, "memory_gb_per_s") * 1e9 * efficiency.at("memory_share").get<double>());
        (compute >= memory ? compute_seconds : memory_seconds) += std::max(compute, memory);
        macs += static_cast<double>(layer.macs);
    }
    const double launches = static_cast<double>(facts.record().network->layers.size()) * 1e-6 *
                            efficiency.at("layer_microseconds").get<double>();
    const double seconds = compute_seconds + memory_seconds + launches;
    const Factors band = band_of_efficiency(baseline);
    Json expected = ours_over(facts, baseline, b / seconds, band);
    expected["batch"] = batch;
    expected["seconds_per_batch"] = seconds;
    expected["tops"] = 2.0 * macs * b / seconds / 1e12;
    expected["seconds"] = {{"compute", compute_seconds}, {"memory", memory_seconds}, {"layers", launches}};
    const double latency_factor = key_of(baseline, "efficiency.latency_factor");
    expected["latency_seconds"] = latency_factor > 0.0 ? Json(latency_factor * seconds) : Json();
    expected["efficiency"] = {{"precision", precision},
                              {"peak_share", efficiency.at("peak_share")},
                              {"memory_share", efficiency.at("memory_share")},
                              {"layer_microseconds", efficiency.at("layer_microseconds")},
                              {"least_factor", band.is_known ? Json(band.least) : Json()},
                              {"most_factor", band.is_known ? Json(band.most) : Json()}};
    return expected;
}

inline Json measured_of(const Facts& facts, const Json& baseline) {
    if (!baseline.contains("measured")) return nullptr;
    const Json& measured = baseline.at("measured");
    if (measured.at("model") != facts.record().program.model) return nullptr;
    if (measured.at("batch") != inferences_together(facts)) return nullptr;
    return {{"fp32", ours_over(facts, baseline, measured.at("fp32_inferences_per_second"))},
            {"int8", ours_over(facts, baseline, measured.at("int8_inferences_per_second"))}};
}

/// The host's time is in a baseline's expected figure if that was fitted to whole applications.
inline bool host_in_baseline(const Facts& facts, const Json& baseline) {
    return !expected_of(facts, baseline).is_null() && !baseline.contains("measured");
}

inline Json comparison_with(const Facts& facts, const Json& baseline) {
    const AtMost fp32 = at_most(facts, baseline, "fp32");
    Json comparison = ours_over(facts, baseline, fp32.rate);
    comparison["band"].erase("inferences_per_second");
    const Factors ratios = band_of_host(facts);
    const double busy = key_of(baseline, "power.busy_watts");
    comparison["baseline"] = baseline.at("name");
    comparison["watts"] = busy > 0.0 ? Json(busy) : Json();
    comparison["joules_per_inference"] = busy > 0.0 ? Json(busy / fp32.rate) : Json();
    comparison["host_time"] = host_in_baseline(facts, baseline);
    comparison["precision"] = "fp32";
    comparison["estimate"] = "upper bound: fp32 roofline of one die";
    comparison["bound"] = fp32.is_memory ? "memory" : "compute";
    const FormatOf format = format_named(baseline, "fp32");
    const double weight_bytes = 4.0 * weights_of_network(facts);
    const Json roofline{
        {"macs_per_weight_byte",
         macs_of_network(facts) * static_cast<double>(inferences_together(facts)) / weight_bytes},
        {"ridge_macs_per_weight_byte", format.operations / 2.0 / (key_of(baseline, "memory_gb_per_s") * 1e9)},
        {"bound_tops", 2.0 * macs_of_network(facts) * fp32.rate / 1e12},
        {"peak_tops", format.operations / 1e12}};
    comparison["roofline"] = weight_bytes > 0.0 ? roofline : Json();
    const bool has_int8 = key_of(baseline, "peak_int8_gops") > 0.0;
    const Json int8 = has_int8 ? Json(at_most(facts, baseline, "int8").rate) : Json();
    const Json int8_speedup = has_int8 ? Json(with_host(facts) / int8.get<double>()) : Json();
    comparison["int8"] = {{"inferences_per_second", int8},
                          {"speedup", int8_speedup},
                          {"band", {{"speedup", band_of(int8_speedup, ratios)}}}};
    comparison["expected"] = expected_of(facts, baseline);
    comparison["measured"] = measured_of(facts, baseline);
    return comparison;
}

inline bool host_in_baselines(const Facts& facts) {
    return std::ranges::any_of(facts.files().baselines,
                               [&](const Json& baseline) { return host_in_baseline(facts, baseline); });
}

/// In whose figures the host's time is, in words.
inline std::string host_time_words(const Facts& facts, const std::string& shown) {
    const bool chip = host_in_chip(facts);
    const bool baselines = host_in_baselines(facts);
    const std::string side = chip && baselines ? "both sides"
                             : chip            ? "the chip's figures only"
                             : baselines       ? "the baselines' figures only"
                                               : "neither side";
    if (!shown.starts_with("host time is in " + side + ":")) return "host time is in " + side;
    std::vector<double> percent;
    if (chip) {
        for (const char* const which : {"typical", "least", "most"}) {
            percent.push_back(0.01 * facts.number(std::string("server.host_percent.") + which));
        }
    }
    const std::size_t last = shown.rfind(':');
    if (!chip)
        return words_with_all(shown.substr(0, last), {}) == shown.substr(0, last) ? shown : "no number";
    // The last number alone has the unit of the range.
    percent[1] *= 100.0;
    return words_with_all(shown, percent);
}

inline Expected host_time(const Facts& facts, const Place&) {
    if (!is_compared(facts)) return nullptr;
    const Json& shown = facts.report().at("host_time");
    Json percent;
    if (facts.has("server.host_percent")) {
        percent = facts.machine("server.host_percent");
        percent["source"] = "";
    }
    return Json{{"text", host_time_words(facts, shown.at("text"))},
                {"in_chip", host_in_chip(facts)},
                {"in_baselines", host_in_baselines(facts)},
                {"percent", percent},
                {"inferences_per_second", with_host(facts)},
                {"band", {{"inferences_per_second", band_of(with_host(facts), band_of_host(facts))}}}};
}

inline std::string place_between(double value, double least, double most) {
    return value < least ? "below" : value > most ? "above" : "within";
}

/// Against the paper's claim: the measured figure, else the expected one, else the bound.
inline Json claim_against(const Facts& facts, const Json& baseline) {
    const Json all = comparison_with(facts, baseline);
    const bool is_measured = !all.at("measured").is_null();
    const bool is_expected = !all.at("expected").is_null();
    const Json& figures = is_measured   ? all.at("measured").at("fp32")
                          : is_expected ? all.at("expected")
                                        : all;
    const Json& watts = figures.at("performance_per_watt");
    const Json judged = watts.at("incremental").is_null() ? watts.at("total") : watts.at("incremental");
    return {{"baseline", baseline.at("name")},
            {"basis", is_measured   ? "measured"
                      : is_expected ? "expected"
                                    : "upper bound"},
            {"performance", figures.at("speedup")},
            {"performance_place", place_between(figures.at("speedup"), 15, 30)},
            {"performance_per_watt", watts},
            {"performance_per_watt_place", judged.is_null() ? Json() : Json(place_between(judged, 30, 80))},
            {"band",
             {{"performance", figures.at("band").at("speedup")},
              {"performance_per_watt", figures.at("band").at("performance_per_watt")}}}};
}

/// Of the multiply-accumulates that the array could have done: cells times cycles.
inline Json array_shares(const Facts& facts) {
    const auto cycles = static_cast<double>(facts.record().cycles);
    const double all = cycles * static_cast<double>(facts.rows() * facts.columns());
    const auto share = [&](const char* counter) {
        return static_cast<double>(facts.count(counter)) / cycles;
    };
    return {{"useful_share", static_cast<double>(facts.count("matrix_unit.useful_macs")) / all},
            {"unused_share", static_cast<double>(facts.count("matrix_unit.unused_macs")) / all},
            {"weight_stall_share", share("matrix_unit.weight_stall_cycles")},
            {"weight_shift_share", share("matrix_unit.weight_shift_cycles")},
            {"non_matrix_share", share("matrix_unit.non_matrix_cycles")}};
}

inline Expected claim(const Facts& facts, const Place&) {
    if (!is_compared(facts)) return nullptr;
    const Json shares = array_shares(facts);
    std::string loss;
    double largest = -1.0;
    for (const auto& [key, share] : shares.items()) {
        if (key == "useful_share" || share.get<double>() <= largest) continue;
        largest = share;
        loss = key.substr(0, key.rfind('_'));
    }
    Json against = Json::array();
    for (const Json& baseline : facts.files().baselines) against.push_back(claim_against(facts, baseline));
    return Json{{"source", "Jouppi et al., ISCA 2017, abstract"},
                {"performance", {{"least", 15.0}, {"most", 30.0}}},
                {"performance_per_watt", {{"least", 30.0}, {"most", 80.0}}},
                {"against", against},
                {"host_time", host_time_words(facts, facts.report().at("claim").at("host_time"))},
                {"array", shares},
                {"largest_loss", loss}};
}

inline Rows rows_of_baselines() {
    const auto of_comparison = [](const std::string& key) {
        return Row{"comparison[]." + key, [key](const Facts& facts, const Place& place) {
                       const Json& baseline = facts.files().baselines.at(place.index());
                       return Expected(comparison_with(facts, baseline).at(key));
                   }};
    };
    Rows rows{
        {"host_time", host_time},
        {"comparison#",
         [](const Facts& facts, const Place&) {
             return Expected(is_compared(facts) ? facts.files().baselines.size() : std::size_t{0});
         }},
        {"claim", claim},
    };
    for (const char* const key :
         {"baseline", "inferences_per_second", "watts", "speedup", "performance_per_watt", "band",
          "host_time", "joules_per_inference", "precision", "estimate", "bound", "roofline", "int8",
          "expected", "measured"}) {
        rows.push_back(of_comparison(key));
    }
    return rows;
}

}  // namespace systole::figures
