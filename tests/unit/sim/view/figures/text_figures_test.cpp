// Every number that `sim run` prints is a figure of report.json, which report_figures_test.cpp computes a
// second time.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/view/report/report.h"
#include "tests/unit/sim/view/figures/cases.h"
#include "tests/unit/sim/view/figures/lines.h"

using namespace systole;
using figures::Json;
using figures::Line;

namespace {

std::vector<Line> summary_lines() {
    return {
        {"summary",
         "{=} on {=}: {} inferences in batches of {}",
         {"model", "machine", "inferences", "batch"}},
        {"summary",
         "{=} on {=}: {} inferences in batches of {}, {} at a time",
         {"model", "machine", "inferences", "batch", "batching.at_a_time"}},
        {"summary",
         "{=} on {=}: {} inferences in one batch; {} asked for",
         {"model", "machine", "inferences", "batch"}},
        {"summary", "{=} on {=}", {"model", "machine"}},
        {"summary", "with {=} = {=}", {"machine_settings[#].key", "machine_settings[#].value"}, true},
        {"summary",
         "on the host {} of the multiply-accumulates: {=}; computing them takes {} of the time",
         {"host_share.macs_share", "host_share.layers[0].name", "host_share.seconds_share"}},
        {"summary", "pixels {} to {} the network scales them: {=}", {"0", "255", "pixel_scaling[0].layer"}},
        {"summary", "accuracy {} {} of {} right", {"accuracy", "accuracy * inferences", "inferences"}},
        {"summary", "in float {}", {"float_reference.accuracy"}},
        {"summary",
         "like float {} {} of {} alike",
         {"float_reference.agreements / inferences", "float_reference.agreements", "inferences"}},
        {"summary", "predictions {=}", {"words.predictions"}},
        {"summary", "time {} {} cycles at {} MHz", {"seconds", "cycles", "configuration.machine.clock_mhz"}},
        {"summary", "batch {} at a time of {} asked for", {"words.together", "batching.asked"}},
        {"summary", "({=})", {"batching.text"}},
        {"summary", "throughput {}", {"inferences_per_second"}},
        {"summary",
         "latency {} mean of {} batches, at most {}",
         {"latency_ms / 1000", "words.batches", "latency_max_ms / 1000"}},
        {"summary", "latency {} of the one batch", {"latency_ms / 1000"}},
        {"summary", "a batch every {} mean of {} batches", {"seconds_per_batch", "words.batches"}},
        {"summary",
         "a batch every {} mean of {} batches, the last of {}",
         {"seconds_per_batch", "words.batches", "words.last_batch"}},
        {"summary",
         "performance {} {} of the peak of {}",
         {"tops.achieved * 1e12", "tops.achieved / tops.peak", "tops.peak * 1e12"}},
        {"summary",
         "MAC/weight byte {} at most {} here; ridge at {}",
         {"roofline.macs_per_weight_byte", "roofline.bound_tops * 1e12",
          "roofline.ridge_macs_per_weight_byte"}},
        // Of the first image stands "image 0", of the same one's other classes nothing.
        {"summary",
         "image {} {} {} {=}",
         {"words.best[#].image", "words.best[#].value", "words.best[#].class", "words.best[#].name"},
         true},
        {"summary", "{} {} {=}", {"words.best[#].value", "words.best[#].class", "words.best[#].name"}, true},
    };
}

std::vector<Line> cycle_lines() {
    std::vector<Line> lines{
        {"matrix_unit",
         "array active {} {}",
         {"matrix_unit.active_cycles", "matrix_unit.active_cycles / cycles"}},
        {"matrix_unit",
         "weight stall {} {}",
         {"matrix_unit.weight_stall_cycles", "matrix_unit.weight_stall_cycles / cycles"}},
        {"matrix_unit",
         "weight shift {} {}",
         {"matrix_unit.weight_shift_cycles", "matrix_unit.weight_shift_cycles / cycles"}},
        {"matrix_unit",
         "non-matrix {} {}",
         {"matrix_unit.non_matrix_cycles", "matrix_unit.non_matrix_cycles / cycles"}},
        {"matrix_unit",
         "useful MACs {} {} of the cells in active cycles",
         {"matrix_unit.useful_macs", "words.useful_share"}},
        {"bounds",
         "full array {} {} with every cell useful in every cycle",
         {"bounds.macs", "bounds.macs / cycles"}},
        {"bounds", "ratio {} cycles over layers' largest bounds", {"bounds.ratio"}},
        {"bounds", "fill {} full array over the array's passes", {"bounds.fill"}},
        {"layers",
         "{=} {=} {} {} {} {} {} {} {}",
         {"layers[#].name", "layers[#].kind", "layers[#].cycles", "layers[#].share * 100",
          "layers[#].matrix_unit.active_cycles / layers[#].cycles * 100",
          "layers[#].matrix_unit.weight_stall_cycles / layers[#].cycles * 100",
          "layers[#].matrix_unit.weight_shift_cycles / layers[#].cycles * 100",
          "layers[#].matrix_unit.non_matrix_cycles / layers[#].cycles * 100",
          "layers[#].array_utilization * 100"},
         true},
        {"layers",
         "{=} {} {} {} {} {} {} {}",  // no kind
         {"layers[#].name", "layers[#].cycles", "layers[#].share * 100",
          "layers[#].matrix_unit.active_cycles / layers[#].cycles * 100",
          "layers[#].matrix_unit.weight_stall_cycles / layers[#].cycles * 100",
          "layers[#].matrix_unit.weight_shift_cycles / layers[#].cycles * 100",
          "layers[#].matrix_unit.non_matrix_cycles / layers[#].cycles * 100",
          "layers[#].array_utilization * 100"},
         true},
    };
    lines.push_back({"matrix_unit",
                     "{=} {} {} {~}",
                     {"words.reasons[#].name", "words.reasons[#].cycles", "words.reasons[#].cycles / cycles"},
                     true});
    for (const auto& [key, name] : {std::pair{"array", "array"},
                                    {"data_setup", "data setup"},
                                    {"weight_memory", "weight memory"},
                                    {"host_link", "host link"},
                                    {"activation", "activation"}}) {
        // The largest alone is printed.
        lines.push_back({"bounds",
                         fmt::format("{} {{}} {{}} at least: {{~}}", name),
                         {fmt::format("bounds.{} * words.is_largest.{}", key, key),
                          fmt::format("bounds.{} / cycles", key)}});
    }
    return lines;
}

std::vector<Line> memory_lines() {
    std::vector<Line> lines{
        {"traffic",
         "unified buffer {} {} of {}",
         {"memory.unified_buffer_peak_bytes",
          "memory.unified_buffer_peak_bytes / memory.unified_buffer_bytes", "memory.unified_buffer_bytes"}},
        {"traffic",
         "weight memory {} {} of {}",
         {"memory.weight_memory_used_bytes", "memory.weight_memory_used_bytes / memory.weight_memory_bytes",
          "memory.weight_memory_bytes"}},
        {"traffic",
         "spilled weights {} in host memory, read over the host link",
         {"memory.spilled_weight_bytes"}},
        {"traffic", "({=})", {"words.cut_images"}},
    };
    for (const auto& [key, name] : {std::pair{"weight", "weight memory"},
                                    {"host_read", "host to chip"},
                                    {"host_write", "chip to host"},
                                    {"instruction", "instructions"}}) {
        lines.push_back({"traffic",
                         fmt::format("{} {{}} {{}}", name),
                         {fmt::format("traffic.{}_bytes", key), fmt::format("traffic.{}_utilization", key)}});
    }
    return lines;
}

std::vector<Line> energy_lines() {
    std::vector<Line> lines{
        {"energy", "an inference {}", {"energy.joules_per_inference"}},
        {"energy", "power {} chip and weight memory", {"energy.watts"}},
        {"energy", "chip alone {} {} published, busy", {"energy.die_watts", "energy.published_busy_watts"}},
        {"energy",
         "uncalibrated {} without the factor {} on its events",
         {"energy.uncalibrated.die_watts", "energy.die_dynamic_factor"}},
        {"energy",
         "chip {} {} static, {} dynamic",
         {"energy.joules", "energy.static_joules", "energy.dynamic_joules"}},
        {"energy", "power {} published, of the busy chip", {"energy.watts"}},
        {"energy", "chip - {=}", {"energy.notes[0]"}},
        {"energy", "({=})", {"energy.notes[#]"}, true},
        {"area",
         "die {} mm2 {} to {}, in {} nm",
         {"area.mm2", "area.mm2_low", "area.mm2_high", "area.process_nm"}},
    };
    for (const auto& [key, name] : {std::pair{"chip_static", "chip, static"},
                                    {"matrix_unit", "matrix unit"},
                                    {"accumulators", "accumulators"},
                                    {"unified_buffer", "unified buffer"},
                                    {"weight_fifo", "weight FIFO"},
                                    {"activation_unit", "activation unit"},
                                    {"host_interface", "host interface"},
                                    {"sequencer", "sequencer"},
                                    {"weight_memory", "weight memory"}}) {
        const std::string joules = fmt::format("energy.by_unit.{}", key);
        lines.push_back({"energy", fmt::format("{} {{}} {{}}", name), {joules, joules + " / energy.joules"}});
    }
    for (const auto& [key, name] : {std::pair{"matrix_unit", "matrix unit"},
                                    {"unified_buffer", "unified buffer"},
                                    {"accumulators", "accumulators"},
                                    {"activation_unit", "activation unit"},
                                    {"sequencer", "sequencer"},
                                    {"host_interface", "host interface"},
                                    {"weight_memory_ports", "memory ports"},
                                    {"io", "io"},
                                    {"weight_fifo", "weight FIFO"},
                                    {"other", "other"}}) {
        const std::string mm2 = fmt::format("area.by_unit.{}.mm2", key);
        lines.push_back({"area", fmt::format("{} {{}} mm2 {{}}", name), {mm2, mm2 + " / area.mm2"}});
    }
    return lines;
}

/// A band's two ends.
std::vector<std::string> with_band(std::string figure, const std::string& band) {
    return {std::move(figure), band + ".least", band + ".most"};
}

std::vector<Line> comparison_lines() {
    const std::string it = "comparison[#].";
    std::vector<Line> lines{
        {"comparison", "{=}", {"words.host_time"}},
        {"comparison", "chip and host {2} {2} to {2}",
         with_band("host_time.inferences_per_second", "host_time.band.inferences_per_second")},
        {"comparison", "Against one die of {=}", {it + "baseline"}, true},
        {"comparison",
         "at most {2} upper bound: fp32 roofline, {=}-bound",
         {it + "inferences_per_second", it + "bound"}},
        {"comparison", "speedup {2} at least; {2} to {2} by host time",
         with_band(it + "speedup", it + "band.speedup")},
        {"comparison", "speedup {2} at least", {it + "speedup"}},
        {"comparison", "over its int8 {2} at least; {2} to {2} by host time",
         with_band(it + "int8.speedup", it + "int8.band.speedup")},
        {"comparison", "over its int8 {2} at least", {it + "int8.speedup"}},
        {"comparison", "performance/W {2} {2} to {2}; total, by servers' TDP",
         with_band(it + "performance_per_watt.total", it + "band.performance_per_watt.total")},
        {"comparison", "performance/W {2} total, by servers' TDP", {it + "performance_per_watt.total"}},
        {"comparison", "{2} {2} to {2}; incremental, without host",
         with_band(it + "performance_per_watt.incremental", it + "band.performance_per_watt.incremental")},
        {"comparison", "{2} incremental, without host", {it + "performance_per_watt.incremental"}},
        {"comparison",
         "expected {2} {2} to {2}; batch {}; 99 % within {2}",
         {it + "expected.inferences_per_second", it + "expected.band.inferences_per_second.least",
          it + "expected.band.inferences_per_second.most", it + "expected.batch",
          it + "expected.latency_seconds"}},
        {"comparison",
         "expected {2} batch {}",
         {it + "expected.inferences_per_second", it + "expected.batch"}},
        {"comparison",
         "(with {} of its peak, {} of its bandwidth, {} a layer)",
         {it + "expected.efficiency.peak_share", it + "expected.efficiency.memory_share",
          it + "expected.efficiency.layer_microseconds * 1e-6"}},
        {"comparison", "speedup {2} {2} to {2}",
         with_band(it + "expected.speedup", it + "expected.band.speedup")},
        {"comparison", "performance/W {2} {2} to {2}; total, by servers' TDP",
         with_band(it + "expected.performance_per_watt.total",
                   it + "expected.band.performance_per_watt.total")},
        {"comparison", "{2} {2} to {2}; incremental, without host",
         with_band(it + "expected.performance_per_watt.incremental",
                   it + "expected.band.performance_per_watt.incremental")},
        {"comparison",
         "measured {} fp32: the network's products alone",
         {it + "measured.fp32.inferences_per_second"}},
        {"comparison", "in int8 {}", {it + "measured.int8.inferences_per_second"}},
        {"comparison", "speedup {2} at least", {it + "measured.fp32.speedup"}},
        {"comparison", "over its int8 {2} at least", {it + "measured.int8.speedup"}},
    };
    const std::string claim = "claim.against[#].";
    lines.push_back(
        {"claim", "The claim: 15-30x the performance and 30-80x the performance/W of CPUs and GPUs"});
    // The place stands behind the figure that is judged.
    lines.push_back({"claim",
                     "{=} {2} {=} {2} {2} {=} {=}",
                     {claim + "baseline", claim + "performance", claim + "performance_place",
                      claim + "performance_per_watt.total", claim + "performance_per_watt.incremental",
                      claim + "performance_per_watt_place", claim + "basis"},
                     true});
    lines.push_back({"claim",
                     "{=} {2} {=} {2} {=} {2} {=}",
                     {claim + "baseline", claim + "performance", claim + "performance_place",
                      claim + "performance_per_watt.total", claim + "performance_per_watt_place",
                      claim + "performance_per_watt.incremental", claim + "basis"},
                     true});
    lines.push_back(
        {"claim",
         "{=} {2} {=} {2} {2} {=}",
         {claim + "baseline", claim + "performance", claim + "performance_place",
          claim + "performance_per_watt.total", claim + "performance_per_watt.incremental", claim + "basis"},
         true});
    const std::string band = claim + "band.";
    lines.push_back(
        {"claim",
         "({2} to {2}; per W {2} to {2} total, {2} to {2} incremental)",
         {band + "performance.least", band + "performance.most", band + "performance_per_watt.total.least",
          band + "performance_per_watt.total.most", band + "performance_per_watt.incremental.least",
          band + "performance_per_watt.incremental.most"}});
    lines.push_back({"claim",
                     "({2} to {2}; per W {2} to {2} total)",
                     {band + "performance.least", band + "performance.most",
                      band + "performance_per_watt.total.least", band + "performance_per_watt.total.most"}});
    lines.push_back({"claim", "({2} to {2})", {band + "performance.least", band + "performance.most"}});
    lines.push_back({"claim", "({=})", {"claim.host_time"}});
    for (const auto& [key, words] : {std::pair{"useful", "multiplied"},
                                     {"unused", "in active cycles,"},
                                     {"weight_stall", "waited for weights from"},
                                     {"weight_shift", "waited for weights shifting"},
                                     {"non_matrix", "had no matrix instruction,"}}) {
        lines.push_back(
            {"claim", fmt::format("{{}} {} {{~}}", words), {fmt::format("claim.array.{}_share", key)}});
    }
    return lines;
}

std::vector<Line> other_lines() {
    return {
        {"accuracy",
         "{=} {=} {} {} {}",
         {"accuracy_by_layer[#].name", "accuracy_by_layer[#].kind", "accuracy_by_layer[#].decibels",
          "accuracy_by_layer[#].lost_decibels", "words.clipped[#]"},
         true},
        {"requests",
         "a batch every {} with the host's {}: at most {} requests a second",
         {"requests.interval_ms / 1000", "requests.host_percent / 100", "requests.capacity_per_second"}},
        {"requests",
         "a batch every {} at most {} requests a second",
         {"requests.interval_ms / 1000", "requests.capacity_per_second"}},
        {"requests", "latency {} of a batch that has the chip to itself", {"requests.alone_ms / 1000"}},
        {"requests", "{} of one with another behind it", {"requests.latency_ms / 1000"}},
        {"requests",
         "50 of 100 within {} at {} a second, {} of the most",
         {"requests.p50_ms / 1000", "requests.per_second", "requests.load"}},
        {"requests",
         "99 of 100 within {} {} requests in a batch, mean",
         {"requests.p99_ms / 1000", "requests.mean_batch"}},
        {"requests",
         "99 of 100 within {} {} a second are more than the chip computes: the queue grows",
         {"requests.p99_ms / 1000", "requests.per_second"}},
        {"requests",
         "requests {} a second have 99 of 100 answers within {}, {} of the most",
         {"requests.most_per_second", "requests.limit_ms / 1000",
          "requests.most_per_second / requests.capacity_per_second"}},
        {"requests",
         "requests {} a second have 99 of 100 answers within {}, {} of the most; the limit does not reduce "
         "it",
         {"requests.most_per_second", "requests.limit_ms / 1000",
          "requests.most_per_second / requests.capacity_per_second"}},
        {"requests",
         "requests {} a second have 99 of 100 answers within {}, {} of the most; {} in the luckiest of 3 "
         "streams",
         {"requests.most_per_second", "requests.limit_ms / 1000",
          "requests.most_per_second / requests.capacity_per_second", "requests.most_per_second_high"}},
        {"feeding", "chip {} computes a step", {"feeding.chip_ms / 1000"}},
        {"feeding",
         "host {} for {} examples, while the chip computes the step before",
         {"feeding.host_ms / 1000", "feeding.examples"}},
        {"feeding", "wait {} of the chip in each step, as the host takes longer", {"feeding.wait_ms / 1000"}},
        {"feeding", "gap {} behind a loop, over its steps", {"feeding.gap_ms / 1000"}},
        {"feeding", "a step {} from one to the next, with wait and gap", {"feeding.step_ms / 1000"}},
        {"feeding", "input share {} the wait over chip and wait", {"feeding.input_share"}},
        {"feeding", "busy share {} of a step, all but the gap", {"feeding.busy_share"}},
        {"feeding", "examples a second {} with wait and gap", {"feeding.examples_per_second"}},
        {"feeding",
         "all steps {} {} steps and {} gaps; the input of the first is there",
         {"feeding.seconds", "feeding.steps", "feeding.gaps"}},
        {"feeding",
         "all steps {} {} steps and {} gap; the input of the first is there",
         {"feeding.seconds", "feeding.steps", "feeding.gaps"}},
        {"host",
         "{=} {} {} of the run; {} inferences",
         {"words.host[#].layer", "words.host[#].seconds", "words.host[#].share", "words.host[#].images"},
         true},
        {"host",
         "{=} {} at least; {} of the run; {} inferences",
         {"words.host[#].layer", "words.host[#].seconds", "words.host[#].share", "words.host[#].images"},
         true},
        {"host",
         "{=} {} {=}; expected",
         {"words.host[#].kind", "words.host[#].seconds", "words.host[#].layer"},
         true},
        {"host",
         "{=} {} {=}; at least, by its roofline",
         {"words.host[#].kind", "words.host[#].seconds", "words.host[#].layer"},
         true},
        {"host", "(the host is {=}; --host names another)", {"host"}},
        {"simulator",
         "Simulated in {}: {}, {}, {} peak memory",
         {"simulator.wall_seconds", "simulator.simulated_cycles_per_second", "simulator.macs_per_second",
          "simulator.peak_rss_bytes"}},
        {"simulator",
         "Simulated in {}: {}, timing only, {} peak memory",
         {"simulator.wall_seconds", "simulator.simulated_cycles_per_second", "simulator.peak_rss_bytes"}},
    };
}

/// The report with what a text says of it in words: sums, counts and lists of its figures.
Json with_words(const figures::Finished& finished) {
    Json report = finished.report;
    Json& words = report["words"];
    report["machine_settings"] = Json::array();
    for (const run::LabelledSetting& setting : finished.record.spec.labels.machine_settings) {
        report["machine_settings"].push_back({{"key", setting.key}, {"value", setting.value.dump()}});
    }
    const std::uint64_t batch = report["batch"];
    const std::uint64_t inferences = report["inferences"];
    words["batches"] = batch == 0 ? 0 : (inferences + batch - 1) / batch;
    words["last_batch"] = batch == 0 ? 0 : inferences % batch;
    const auto useful = report["matrix_unit"]["useful_macs"].get<double>();
    const double cells = useful + report["matrix_unit"]["unused_macs"].get<double>();
    words["useful_share"] = cells > 0.0 ? Json(useful / cells) : Json();
    // The reasons for non-matrix cycles, the longest first.
    words["reasons"] = Json::array();
    std::vector<std::pair<std::string, std::uint64_t>> reasons;
    for (const auto& [key, cycles] : report["matrix_unit"]["non_matrix_reasons"].items()) {
        std::string name = key.substr(0, key.rfind('_'));
        std::replace(name.begin(), name.end(), '_', ' ');
        if (cycles > 0)
            reasons.emplace_back(name == "raw" ? "RAW" : name == "setup" ? "data setup" : name, cycles);
    }
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [name, cycles] : reasons)
        words["reasons"].push_back({{"name", name}, {"cycles", cycles}});
    std::string largest;
    for (const char* const key : {"array", "data_setup", "weight_memory", "host_link", "activation"}) {
        if (largest.empty() || report["bounds"][key] > report["bounds"][largest]) largest = key;
        words["is_largest"][key] = 0;
    }
    words["is_largest"][largest] = 1;
    if (report.contains("batching")) {
        words["together"] =
            report["batching"]["slices"] > 1 ? report["batching"]["at_a_time"] : report["batching"]["group"];
    }
    if (!report["host_time"].is_null()) words["host_time"] = report["host_time"]["text"];
    // The text has segments first.
    words["host"] = Json::array();
    for (const bool is_segment : {true, false}) {
        for (const Json& operation : report["host_operations"]) {
            if ((operation["kind"] == "segment") == is_segment) words["host"].push_back(operation);
        }
    }
    words["clipped"] = Json::array();
    if (report.contains("accuracy_by_layer")) {
        for (const Json& layer : report["accuracy_by_layer"]) {
            const auto clipped = layer["clipped"].get<double>();
            words["clipped"].push_back(clipped > 0.0 ? Json(clipped / layer["numbers"].get<double>())
                                                     : Json());
        }
    }
    words["best"] = Json::array();
    if (report.contains("best_classes")) {
        for (std::size_t image = 0; image < report["best_classes"].size(); ++image) {
            for (Json each : report["best_classes"][image]) {
                each["image"] = image;
                each["value"] = each.contains("score") ? each["score"] : each["probability"];
                words["best"].push_back(each);
            }
        }
    }
    // Up to eight predictions, each with its probability if the outputs are some.
    std::string predictions;
    const std::vector<run::OutputArray>& arrays = finished.record.answers.output_arrays;
    for (std::size_t i = 0; i < std::min<std::size_t>(8, report["predictions"].size()); ++i) {
        const std::size_t one = report["predictions"][i];
        predictions += fmt::format("{}{}", i == 0 ? "" : ", ", one);
        if (!finished.record.program.has_host_operations) continue;
        predictions +=
            fmt::format(" ({:.0f} %)", 100.0F * arrays[0].values[i * arrays[0].shape.back() + one]);
    }
    words["predictions"] = predictions + (report["predictions"].size() > 8 ? ", ..." : "");
    if (report["memory"].contains("cut_images")) {
        const Json& cut = report["memory"]["cut_images"];
        std::string text = "an image does not fit the unified buffer, so ";
        const auto count = [](const Json& number, const std::string& one, const std::string& many) {
            return number.dump() + (number == 1 ? one : many);
        };
        if (cut["cut_layers"] > 0) {
            text += count(cut["cut_layers"], " layer is", " layers are") + " computed in " +
                    cut["strips"].dump() + " strips of lines";
        }
        if (!cut["spilled"].empty()) {
            std::string bytes = cut["spilled_bytes"].dump();
            for (std::size_t place = bytes.size(); place > 3;) bytes.insert(place -= 3, ",");
            text += (cut["cut_layers"] > 0 ? ", and " : "") +
                    count(cut["spilled"].size(), " tensor goes", " tensors go") + " through host memory, " +
                    bytes + " bytes an inference";
        }
        words["cut_images"] = text;
    }
    return report;
}

/// The lines of a text, each with single blanks.
std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(figures::one_blank(line));
    return lines;
}

std::string cycle_text(const Json& cycle) {
    if (cycle.is_null()) return "-";
    std::string text = cycle.dump();
    for (std::size_t place = text.size(); place > 3;) text.insert(place -= 3, ",");
    return text;
}

void check_instructions(const std::string& text, const Json& report) {
    const std::vector<std::string> lines = lines_of(text);
    const Json& times = report.at("instruction_times");
    REQUIRE(lines.size() == times.size() + 1);
    for (std::size_t i = 0; i < times.size(); ++i) {
        const Json& line = times[i];
        const bool again = line["repetition"] > 0;
        const std::string expected =
            (again ? "" : line["number"].dump() + " ") + line["unit"].get<std::string>() + " " +
            cycle_text(line["issued"]) + " " + cycle_text(line["begun"]) + " " +
            cycle_text(line["released"]) + " " + cycle_text(line["complete"]) + " " +
            (again ? "repetition " + line["repetition"].dump() : figures::one_blank(line["text"]));
        CHECK(lines[i + 1] == expected);
    }
}

void check_registers(const std::string& text, const Json& report) {
    const Json& dump = report.at("registers");
    const std::vector<std::string> lines = lines_of(text);
    for (std::size_t i = 0; i < dump["cycles"].size(); ++i) {
        const Json& cycle = dump["cycles"][i];
        std::string expected = cycle["cycle"].dump();
        for (std::size_t cell = 0; cell < cycle["weights"].size(); ++cell) {
            expected += " | " + cycle["activations"][cell].dump() + " " + cycle["weights"][cell].dump() +
                        " " + cycle["shadow_weights"][cell].dump() + " " + cycle["partial_sums"][cell].dump();
        }
        const auto found = std::find(lines.begin(), lines.end(), expected);
        CHECK(found != lines.end());
    }
}

void check_buffers(const std::string& text, const Json& report) {
    std::string expected;
    for (const Json& buffer : report.at("buffers")) {
        expected += "Buffer " + buffer["name"].get<std::string>() + ": " +
                    std::to_string(buffer["values"].size()) + " " + buffer["type"].get<std::string>();
        for (const Json& value : buffer["values"]) expected += " " + value.dump();
    }
    std::string shown;
    for (const std::string& line : lines_of(text)) {
        const std::size_t values = line.starts_with("Buffer") ? 0 : line.find(':') + 2;
        shown += (shown.empty() ? "" : " ") + line.substr(values);
    }
    CHECK(shown == expected);
}

/// A section without figures says why; report.json has none of them.
void check_absent(const std::string& section, const std::string& why, const Json& report) {
    INFO(section << ": " << why);
    const std::map<std::string, std::string> keys{{"requests", "requests"},
                                                  {"training", "training"},
                                                  {"feeding", "feeding"},
                                                  {"cores", "parts"},
                                                  {"comparison", "comparison"},
                                                  {"claim", "claim"},
                                                  {"host", "host_operations"},
                                                  {"accuracy", "accuracy_by_layer"},
                                                  {"instructions", "instruction_times"},
                                                  {"registers", "registers"},
                                                  {"buffers", "buffers"},
                                                  {"area", "area"},
                                                  {"tile_array", "tile_array"},
                                                  {"cores", "parts"},
                                                  {"bounds", "words.bounds"}};
    REQUIRE(keys.contains(section));
    const std::string& key = keys.at(section);
    CHECK((!report.contains(key) || report.at(key).empty()));  // an empty list, or null
    const std::string left_out = section == "claim" ? "comparison" : section;
    CHECK_FALSE(why.empty());
    if (report.at("left_out").contains(left_out)) CHECK(why == report.at("left_out").at(left_out));
}

}  // namespace

TEST_CASE("Every number of the text is a figure of report.json", "[figures]") {
    std::vector<Line> lines;
    for (const auto& some : {summary_lines(), cycle_lines(), memory_lines(), energy_lines(),
                             comparison_lines(), other_lines()}) {
        lines.insert(lines.end(), some.begin(), some.end());
    }
    figures::LineTable table(std::move(lines));
    for (const auto& [each, finished] : figures::finished_cases()) {
        INFO(each.name);
        const Json report = with_words(finished);
        for (const std::string_view name : report::section_names()) {
            const std::string section(name);
            // A terminal so wide that no line breaks.
            const bool is_list = section == "instructions" || section == "registers" || section == "buffers";
            terminal::Look look;
            if (!is_list) look.columns = 1000;
            const std::string text =
                report::to_text(finished.report, finished.record, std::span(&section, 1), look, true);
            if (const std::string none = "no " + section + ": "; text.starts_with(none)) {
                check_absent(section, text.substr(none.size(), text.find_last_not_of('\n') + 1 - none.size()),
                             report);
            } else if (section == "instructions") {
                check_instructions(text, report);
            } else if (section == "registers") {
                check_registers(text, report);
            } else if (section == "buffers") {
                check_buffers(text, report);
            } else {
                table.check(section, text, report);
            }
        }
    }
    for (const std::string& line : table.unused()) FAIL_CHECK("no text has the line " << line);
    CAPTURE(table.numbers());
    CHECK(table.numbers() > 500);
}

TEST_CASE("The layers that share a line of the text are summed", "[figures]") {
    const figures::Finished& finished = figures::finished_cases().front().second;
    Json many = finished.report;
    for (int i = 0; i < 4; ++i) {
        for (const Json& layer : finished.report["layers"]) many["layers"].push_back(layer);
    }
    Json report = many;
    // Ten with most cycles have lines of their own.
    const Json layers = report["layers"];
    std::vector<std::size_t> order(layers.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto cycles_of = [&](std::size_t i) { return layers[i]["cycles"].get<std::uint64_t>(); };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return cycles_of(a) > cycles_of(b); });
    constexpr std::size_t listed = 10;
    REQUIRE(layers.size() > listed + 1);
    REQUIRE(cycles_of(order[listed]) > 0);
    std::map<std::string, double> sum;
    std::size_t idle = 0;
    for (std::size_t i = listed; i < order.size(); ++i) {
        const Json& unit = layers[order[i]]["matrix_unit"];
        sum["cycles"] += static_cast<double>(cycles_of(order[i]));
        idle += cycles_of(order[i]) == 0 ? 1U : 0U;
        for (const char* const key : {"active_cycles", "weight_stall_cycles", "weight_shift_cycles",
                                      "non_matrix_cycles", "useful_macs", "unused_macs"}) {
            sum[key] += unit[key].get<double>();
        }
    }
    sum["cells"] = sum["useful_macs"] + sum["unused_macs"];
    std::sort(order.begin(), order.begin() + listed);
    report["layers"] = Json::array();
    for (std::size_t i = 0; i < listed; ++i) report["layers"].push_back(layers[order[i]]);
    report["others"] = sum;
    report["others"]["count"] = order.size() - listed;
    report["others"]["idle"] = idle;
    std::vector<Line> lines = cycle_lines();
    lines.push_back(
        {"layers",
         "({} others) {} {} {} {} {} {} {}",
         {"others.count", "others.cycles", "others.cycles / cycles * 100",
          "others.active_cycles / others.cycles * 100", "others.weight_stall_cycles / others.cycles * 100",
          "others.weight_shift_cycles / others.cycles * 100",
          "others.non_matrix_cycles / others.cycles * 100", "others.useful_macs / others.cells * 100"}});
    lines.push_back({"layers", "({} others; --all lists them)", {"others.count"}});
    lines.push_back({"layers",
                     "({} others, {} of them without cycles; --all lists them)",
                     {"others.count", "others.idle"}});
    figures::LineTable table(std::move(lines));
    terminal::Look look;
    look.columns = 1000;
    const std::string section = "layers";
    table.check(section, report::to_text(many, finished.record, std::span(&section, 1), look, false), report);
    CHECK_FALSE(table.unused().contains("layers: ({} others) {} {} {} {} {} {} {}"));
}
