// The report as text for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/message_text.h"
#include "hw/machine/main_units.h"
#include "sim/view/area/area.h"
#include "sim/view/report/batching.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/main_unit.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/report/sections.h"
#include "sim/view/report/texts.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

using terminal::fitted;
using terminal::Role;
using terminal::with_both_ends;

/// Why a program that states its batches has no latency.
constexpr std::string_view no_results = "the program has not written results of each batch";

class Writer : ReportLines {
public:
    Writer(const Json& report, const run::RunRecord& record, const terminal::Look& look, bool all_layers)
        : ReportLines(look),
          report_(report),
          record_(record),
          main_(record.main_unit()),
          all_layers_(all_layers),
          inferences_(count("inferences")),
          batch_(count("batch")) {}

    /// A part of the text. Each begins with an empty line, which is removed from the first.
    struct Section {
        std::string_view name;
        void (Writer::*write)();
        bool is_of_main_unit = false;  ///< of this name: machines with another one lack the section
    };
    static std::vector<Section> sections();

    std::string write(std::span<const std::string> chosen) && {
        chosen_ = !chosen.empty();
        for (const Section& section : sections()) {
            if (!chosen_ || std::find(chosen.begin(), chosen.end(), section.name) != chosen.end()) {
                const std::size_t before = text_.size();
                if (!section.is_of_main_unit || section.name == main_.name) (this->*section.write)();
                if (text_.size() == before) write_absent(section.name);
            }
        }
        text_.erase(0, text_.find_first_not_of('\n'));
        return take();
    }

private:
    // Values of the report.
    std::optional<double> number(std::string_view path) const { return number_at(report_, path); }
    std::uint64_t count(const char* key) const { return report_[key].get<std::uint64_t>(); }
    std::string words(const char* key) const { return report_[key].get<std::string>(); }
    /// Empty if the report has no such reason.
    std::string left_out(std::string_view what) const {
        return report_["left_out"].value(std::string(what), std::string());
    }
    bool has(const char* key) const { return report_.contains(key) && !report_[key].is_null(); }

    Shown shown() const { return {report_, record_, look_}; }
    void add(const std::string& section) { text_ += '\n' + section; }

    /// Says why a section that the user chose, or whose figures the run asks for, has nothing.
    void write_absent(std::string_view section) {
        std::string why;
        if (section == "requests" || section == "feeding") why = left_out(section);
        if (section == "comparison" || (section == "claim" && chosen_)) why = left_out("comparison");
        if (std::ranges::find(machine::main_units(), section, &machine::NamedMainUnit::name) !=
            machine::main_units().end()) {
            why = chosen_ ? fmt::format("the main unit of {} is {}", words("machine"), main_.name) : "";
        }
        if (chosen_ && section == "area" && !area::is_known(record_.units)) {
            why = fmt::format("it is not known for the units of {}", words("machine"));
        }
        if (why.empty() && chosen_) why = usual_reason(section);
        if (why.empty()) return;
        line("");
        note(0, fmt::format("no {}: {}", section, why));
    }

    static std::string_view usual_reason(std::string_view section) {
        static constexpr std::array reasons{
            std::pair{"bounds", "no part of the machine has work"},
            std::pair{"cores", "the machine has one"},
            std::pair{"accuracy", "no layer has numbers to compare"},
            std::pair{"training", "the run is no training; sim train makes one"},
            std::pair{"requests", "the run asks for none; give --arrivals or --latency-limit"},
            std::pair{"feeding", "the run has no host that makes its input; set feeding.example_us"},
            std::pair{"area", "the machine does not say its process"},
            std::pair{"comparison", "the run names no baseline; give --baseline"},
            std::pair{"claim", "the run names no baseline; give --baseline"},
            std::pair{"host", "the run leaves no work to it"},
        };
        const auto found = std::ranges::find(reasons, section, [](const auto& each) { return each.first; });
        return found == reasons.end() ? "the run has none" : found->second;
    }

    void write_training() {
        if (has("training")) add(training_text(report_["training"], look_) + "\n");
    }

    void write_headline() {
        // Both names may have any length, so the line is wrapped.
        const std::size_t second = columns_ * 3 / 8;
        const std::size_t first = columns_ - second - 10;
        const std::string title =
            fmt::format("{} on {}", fitted(words("model"), first), fitted(words("machine"), second));
        if (inferences_ == 0) {
            line("{}", heading(title));
        } else {
            const std::string amount =
                has("training")
                    ? fmt::format("the first {}",
                                  counted(report_["training"]["timed_steps"].get<std::uint64_t>(), "step"))
                    : fmt::format("{} inference{} {}", grouped(inferences_), inferences_ == 1 ? "" : "s",
                                  batches_text(report_.value("batching", Json()), batch_, inferences_));
            const bool one_line = title.size() + 2 + amount.size() <= columns_;
            if (one_line) {
                line("{}: {}", heading(title), amount);
            } else {
                line("{}:", heading(title));
                note(2, amount);
            }
        }
        for (const run::LabelledSetting& setting : record_.spec.labels.machine_settings) {
            line("  with {} = {}", fitted(setting.key, first), fitted(setting.value.dump(), second));
            // Only another simulation shows whether larger or smaller pieces of a layer are slower.
            const bool is_of_pieces =
                setting.key == "accumulators.rows" && has("batching") && !has("explanation");
            if (is_of_pieces) note(4, "(sim explain says whether this makes the run slower, and why)");
        }
        line("");
        write_host_share();
        write_answers();
        const auto remark = [this](const Figure& figure, std::optional<double> value) {
            return remark_of_figure(figure, value);
        };
        figure_lines(Figure::Part::Time, report_, remark);
        if (inferences_ > 0) write_batching();
        if (const std::string why = left_out("speed"); !why.empty()) {
            // Multiply-accumulates of the host are named before all figures.
            if (!has("host_share")) entry("throughput", "-", why);
            return;
        }
        figure_lines(Figure::Part::Speed, report_, remark);
        if (has("call") && has("latency_ms")) write_call(report_["call"]["host"]);
    }

    /// Whose host the latencies belong to.
    void write_call(const Json& host) {
        const std::string processor =
            host["processor"].is_null() ? "" : ", " + host["processor"].get<std::string>();
        note(4, fmt::format("(of each call, {:g} us are the host's{}; its link: {:g} GB/s in, {:g} GB/s out)",
                            host["call_us"].get<double>(), processor, host["read_gb_per_s"].get<double>(),
                            host["write_gb_per_s"].get<double>()));
    }

    /// The words beside a figure of the summary; nothing where it has no line.
    std::optional<std::string> remark_of_figure(const Figure& figure, std::optional<double> value) const {
        if (figure.key() == "seconds") {
            return fmt::format("{} cycles at {:g} MHz", grouped(count("cycles")),
                               *number("configuration.machine.clock_mhz"));
        }
        if (figure.key() == "inferences_per_second") {
            return inferences_ > 0 ? std::optional(sequence_remark()) : std::nullopt;
        }
        if (figure.key() == "latency_ms") return latency_remark();
        if (figure.key() == "call.warm_ms") return warm_remark();
        if (figure.key() == "seconds_per_batch") return interval_remark();
        if (figure.key() == "tops.achieved") {
            const double peak = *number("tops.peak");
            const std::optional<double> achieved = number("tops.achieved");
            return fmt::format("{} of the peak of {}",
                               percent(achieved ? std::optional(*achieved / peak) : achieved),
                               si(peak * 1e12, "OPS"));
        }
        if (has("roofline") && figure.key() == "roofline.macs_per_weight_byte") {
            return fmt::format("at most {} here; ridge at {}",
                               si(*number("roofline.bound_tops") * 1e12, "OPS"),
                               amount(number("roofline.ridge_macs_per_weight_byte"), ""));
        }
        return value ? std::optional(std::string(figure.line.remark)) : std::nullopt;
    }

    std::uint64_t number_of_batches() const { return batch_ == 0 ? 0 : divide_up(inferences_, batch_); }

    /// "mean of 3 batches".
    std::string batches() const {
        return number_of_batches() == 1 ? "of the one batch"
                                        : fmt::format("mean of {} batches", grouped(number_of_batches()));
    }

    /// "27,392 tokens a second, 128 an inference"; empty where the first input is no sequence.
    std::string sequence_remark() const {
        const std::optional<double> rate = number("sequence.per_second");
        if (!rate) return {};
        const Json& sequence = report_["sequence"];
        return fmt::format("{} {}s a second, {} an inference", amount(rate, ""),
                           sequence["unit"].get<std::string>(),
                           grouped(sequence["length"].get<std::uint64_t>()));
    }

    std::optional<std::string> latency_remark() const {
        if (number_of_batches() == 0) return std::nullopt;
        if (!has("latency_ms")) return std::string(no_results);
        if (number_of_batches() == 1) return batches();
        return fmt::format("{}, at most {}", batches(), si(*number("latency_max_ms") / milliseconds, "s"));
    }

    std::optional<std::string> warm_remark() const {
        if (!has("call") || !has("latency_ms")) return std::nullopt;
        if (report_["call"]["warm_ms"].is_null()) {
            return "give two inferences: the second call finds the parameters in the memory";
        }
        const std::uint64_t later = number_of_batches() - 1;
        return later == 1 ? "the second call" : fmt::format("mean of the {} later calls", grouped(later));
    }

    /// Batches overlap: from its first byte to its last, one takes longer than the interval between them. One
    /// alone has its latency only.
    std::optional<std::string> interval_remark() const {
        if (number_of_batches() == 0 || (number_of_batches() == 1 && has("latency_ms"))) return std::nullopt;
        const std::uint64_t rest = inferences_ % batch_;
        return rest == 0 ? batches() : fmt::format("{}, the last of {}", batches(), grouped(rest));
    }

    /// What left the chip comes before all figures, which would otherwise be taken for those of the chip.
    void write_host_share() {
        if (!has("host_share")) return;
        const Json& share = report_["host_share"];
        entry("on the host", percent(number_at(share, "macs_share")),
              fmt::format("of the multiply-accumulates: {}; computing them takes {}{} of the time",
                          host_layers_text(share), report_["host_at_least"].get<bool>() ? "at least " : "",
                          percent(number_at(share, "seconds_share"))));
        write_host_basis(4);
        const bool is_all = record_.program.macs() == 0;
        if (is_all) note(4, "(the chip has none, so there is no figure of its speed)");
    }

    /// On what the time of the host's work rests, where it is not known by operator.
    void write_host_basis(std::size_t indent) {
        if (!has("host_known_of")) return;
        note(indent, fmt::format("(rates of {} are known of no operator, only of {})", words("host"),
                                 words("host_known_of")));
    }

    /// What became of a batch that does not fit.
    void write_batching() {
        if (!has("batching") || report_["batching"]["text"].get<std::string>().empty()) return;
        const Json& batching = report_["batching"];
        const Json& together = batching["slices"] > 1 ? batching["at_a_time"] : batching["group"];
        entry("batch", fmt::format("{} at a time", grouped(together.get<std::uint64_t>())),
              fmt::format("of {} asked for", grouped(batching["asked"].get<std::uint64_t>())));
        note(4, fmt::format("({})", batching["text"].get<std::string>()));
    }

    void write_answers() {
        if (report_["timing_only"].get<bool>()) {
            entry("answers", "-", "timing only: no values were computed");
        }
        for (const Json& name : report_["unfilled_buffers"]) {
            entry("input " + fitted(name.get<std::string>(), 12), "zeros",
                  "a constant buffer would bring values");
        }
        for (const Json& each : report_.value("pixel_scaling", Json::array())) {
            entry("pixels", "0 to 255",
                  fmt::format("the network scales them: {}",
                              with_both_ends(each["layer"].get<std::string>(), 24)));
        }
        const std::optional<double> accuracy = number("accuracy");
        if (accuracy) {
            const auto right =
                static_cast<std::uint64_t>(std::llround(*accuracy * static_cast<double>(inferences_)));
            entry("accuracy", fmt::format("{:.2f} %", 100.0 * *accuracy),
                  fmt::format("{} of {} right", grouped(right), grouped(inferences_)));
        }
        if (const auto of_float = number("float_reference.accuracy")) {
            entry("  in float", fmt::format("{:.2f} %", 100.0 * *of_float), "");
        }
        if (const Json& alike = report_["float_reference"]["agreements"]; !alike.is_null()) {
            const std::uint64_t agreements = alike;
            entry("  like float", percent(share_of(agreements, inferences_)),
                  fmt::format("{} of {} alike", grouped(agreements), grouped(inferences_)));
        }
        write_first_outputs();
        if (!accuracy && !report_["predictions"].empty()) write_first_predictions();
        const Json best = report_.value("best_classes", Json::array());
        for (std::size_t i = 0; i < best.size(); ++i) write_best_classes(i, best[i]);
    }

    void write_best_classes(std::size_t inference, const Json& classes) {
        std::string label = fmt::format("image {}", inference);
        for (const Json& one : classes) {
            const bool is_probability = one.contains("probability");
            const auto score = one[is_probability ? "probability" : "score"].get<float>();
            const std::string value =
                is_probability ? fmt::format("{:.1f} %", 100.0F * score) : fmt::format("{:.4g}", score);
            const std::string before =
                fmt::format("  {:<18}{:>8}  {:>6}  ", label, value, one["class"].get<std::uint32_t>());
            line("{}{}", before, fitted(one["name"].get<std::string>(), columns_ - before.size()));
            label.clear();
        }
    }

    /// The first numbers of the first outputs of a network of arrays.
    void write_first_outputs() {
        constexpr std::size_t most = 8;
        if (!has("first_outputs")) return;
        const Json& outputs = report_["first_outputs"];
        for (std::size_t i = 0; i < std::min(most, outputs.size()); ++i) {
            const Json& output = outputs[i];
            const std::vector<std::uint64_t> shape = output["shape"];
            const std::string kind = fmt::format("{} ({}{})", output["type"].get<std::string>(),
                                                 joined(shape), shape.size() == 1 ? "," : "");
            const std::uint64_t elements =
                std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
            line("  {:<18}{}", fitted(output["name"].get<std::string>(), 16), kind);
            std::string shown;
            std::size_t written = 0;
            for (const double each : output["first"]) {
                // Each whole number of 32 bits has all its digits.
                const bool is_whole = std::trunc(each) == each && std::abs(each) < 1e10;
                const std::string number =
                    is_whole ? fmt::format("{:.0f}", each) : fmt::format("{:.6g}", each);
                const std::string one = (written == 0 ? "" : ", ") + number;
                if (shown.size() + one.size() > columns_ - 26) break;  // the space before, and ", ..."
                shown += one;
                ++written;
            }
            line("  {:<18}{}{}", "", shown, written < elements ? ", ..." : "");
        }
        if (outputs.size() > most) {
            line("  {:<18}and {} more", "", counted(outputs.size() - most, "output"));
        }
    }

    void write_first_predictions() {
        constexpr std::size_t most = 8;
        const Json& predictions = report_["predictions"];
        const std::size_t number_shown = std::min(most, predictions.size());
        std::string shown;
        std::size_t i = 0;
        for (; i < number_shown; ++i) {
            const auto prediction = predictions[i].get<std::uint32_t>();
            std::string one = fmt::format("{}", prediction);
            if (const auto share = probability(i, prediction))
                one += fmt::format(" ({:.0f} %)", 100.0F * *share);
            if (shown.size() + one.size() > columns_ - 26) break;  // "  predictions" and ", ..."
            shown += (shown.empty() ? "" : ", ") + one;
        }
        if (predictions.size() > i) shown += ", ...";
        line("  {:<18}{}", "predictions", shown);
    }

    /// Absent where outputs are no probabilities.
    std::optional<float> probability(std::size_t inference, std::uint32_t prediction) const {
        if (!record_.program.has_host_operations || !record_.answers.outputs) return std::nullopt;
        const run::Outputs& outputs = *record_.answers.outputs;
        return outputs.values.at(inference * outputs.per_inference + prediction);
    }

    void write_cycles() {
        line("");
        constexpr std::size_t before_cycles = 26;
        const std::string& title = main_.box->title;
        line("{}{}cycles    share", heading(title),
             std::string(before_cycles - std::min(title.size(), before_cycles), ' '));
        std::size_t place = 0;
        for (const Figure& figure : figures_of(Figure::Part::MainUnit)) {
            if (!figure.key().starts_with(main_.name)) continue;
            const Role role = terminal::role_of_class(place++);
            const auto share = value_of(figure, report_);
            line("  {}{:>14}  {:>7}  {}", look_.paint(role, fmt::format("{:<16}", figure.name)),
                 figure_text(number(figure.key()), "count"), figure_text(share, figure.format),
                 look_.paint(role, bar_for(share)));
        }
        write_reasons();
        const auto useful = static_cast<std::uint64_t>(*number(main_.main->useful_macs));
        const auto unused = static_cast<std::uint64_t>(*number(main_.main->unused_macs));
        line_and(fmt::format("  useful MACs     {:>14}  {:>7}  ", si(static_cast<double>(useful), ""),
                             percent(share_of(useful, useful + unused))),
                 main_.main->cells);
    }

    /// The parts of a class: the reasons for it, or the kinds of work; the longest first.
    void write_reasons() {
        struct Reason {
            std::string name;
            std::string meaning;
            std::uint64_t cycles;
        };
        std::vector<Reason> sorted;
        for (const std::string& group : main_.main->groups) {
            const Json& cycles = *find_path(report_, group);
            for (const run::Counter& counter : record_.counters.of(group)) {
                if (!counter.name().ends_with("_cycles")) continue;
                const machine::CyclePart words = part_words(*main_.main, counter);
                sorted.push_back({words.name, words.meaning, cycles[std::string(counter.name())]});
            }
        }
        std::ranges::stable_sort(sorted, std::ranges::greater(), &Reason::cycles);
        for (const auto& [name, meaning, cycles] : sorted) {
            if (cycles == 0) return;
            line_and(fmt::format("    {:<14}{:>14}  {:>7}  ", name, grouped(cycles),
                                 percent(share_of(
                                     cycles, count("cycles") * report_.value("arrays", std::uint64_t{1})))),
                     meaning);
        }
    }

    /// What the machine needs at least, and how far the mapping and the schedule are from it.
    void write_bounds() {
        const machine::Bound* const largest = largest_bound(record_.bounds);
        if (largest == nullptr || largest->value() == 0) return;
        line("");
        line("{}                    cycles    share", heading("Bounds"));
        const auto write = [&](std::string_view name, const std::string& key, const std::string& remark) {
            const std::uint64_t cycles = report_["bounds"][key];
            line_and(fmt::format("  {:<16}{:>14}  {:>7}  ", name, grouped(cycles),
                                 percent(share_of(cycles, count("cycles")))),
                     remark);
        };
        std::string name = largest->name;
        std::ranges::replace(name, '_', ' ');
        write(name, largest->name, fmt::format("at least: {}", largest->meaning));
        const auto macs = std::ranges::find(record_.bounds, "macs", &machine::Bound::name);
        write(macs->part, macs->name, macs->meaning);
        for (const Figure& figure : figures_of(Figure::Part::Bounds)) {
            const auto value = value_of(figure, report_);
            if (!value) continue;
            const bool is_fill = figure.line.remark.empty();
            line_and(fmt::format("  {:<16}{:>14}           ", figure.name, figure_text(value, figure.format)),
                     is_fill ? std::string_view(main_.main->fill_meaning) : figure.line.remark);
        }
    }

    /// Each core of several, with its classes of cycles; those that are alike in every counter once.
    void write_cores() {
        if (!has("parts")) return;
        const Json& described = report_["cycle_classes"];
        std::string titles;
        for (const Json& each : described["classes"]) {
            titles += fmt::format("{:>8}", each["column"].get<std::string>());
        }
        line("");
        line("{}", heading(fmt::format("{:<24}{:>12}{}", "Cores", "ended at", titles)));
        bool has_others = false;
        for (const Json& part : report_["parts"]) {
            if (part["cycles"].is_null()) continue;  // a chip
            const auto names = part["names"].get<std::vector<std::string>>();
            has_others = has_others || names.size() > 1;
            const Json& unit = part["units"][described["unit"].get<std::string>()];
            std::vector<std::uint64_t> cycles;
            for (const Json& each : described["classes"]) {
                cycles.push_back(unit[each["key"].get<std::string>()]);
            }
            const std::uint64_t all = std::accumulate(cycles.begin(), cycles.end(), std::uint64_t{0});
            std::string shares;
            for (const std::uint64_t each : cycles) {
                shares += fmt::format("{:>8}", percent(share_of(each, all)));
            }
            line("  {:<22}{:>12}{}",
                 names.size() == 1 ? names.front()
                                   : fmt::format("{} and {} more", names.front(), names.size() - 1),
                 grouped(part["cycles"].get<std::uint64_t>()), shares);
        }
        note(2, fmt::format("({}shares of the run's cycles)",
                            has_others ? "cores that are alike in all that they did are one line; " : ""));
    }

    void write_layers() {
        if (report_["layers"].size() < 2 && !chosen_)
            return;  // a single layer would repeat the figures above
        add(layer_table(shown(), all_layers_));
    }

    void write_traffic() {
        line("");
        line_and(heading("Traffic") + std::string(20, ' ') + "bytes   ", "of the path's bandwidth");
        for (const machine::UnitDescription& unit : record_.units) {
            for (const machine::DataPath& path : unit.paths) {
                if (path.traffic.empty()) continue;
                const auto utilization = number(fmt::format("traffic.{}_utilization", path.traffic));
                line("  {:<16}{:>14}  {:>7}  {}", path.label,
                     bytes(report_["traffic"][path.traffic + "_bytes"].get<std::uint64_t>()),
                     percent(utilization), bar_for(utilization));
            }
        }
        line("{}", heading("Memory"));
        const Json& memory = report_["memory"];
        for (const machine::UnitDescription& unit : record_.units) {
            if (!unit.box || !unit.box->filled) continue;
            std::string name = unit.box->title;
            if (!is_abbreviation(name)) {
                name.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
            }
            const std::uint64_t used =
                memory[fmt::format("{}_{}_bytes", unit.name, unit.box->filled->figure)];
            const std::uint64_t all = memory[unit.name + "_bytes"];
            line("  {:<16}{:>14}  {:>7}  of {}", name, bytes(used), percent(share_of(used, all)), bytes(all));
        }
        if (const auto spilled = memory.value("spilled_weight_bytes", std::uint64_t{0}); spilled > 0) {
            line("  {:<16}{:>14}  in host memory, read over the host link", "spilled weights",
                 bytes(spilled));
        }
        if (record_.cut_images) note(4, fmt::format("({})", cut_images_text(*record_.cut_images)));
    }

    void write_accuracy() {
        if (has("accuracy_by_layer")) add(accuracy_text(report_["accuracy_by_layer"], look_));
    }

    void write_requests() {
        if (has("requests")) add(requests_text(report_["requests"], look_));
    }

    void write_feeding() {
        if (has("feeding")) add(feeding_text(report_, look_));
    }

    /// A study of machines asks for it; most runs have the machine of all others.
    void write_area() {
        if (chosen_ && area::is_known(record_.units)) add(area_text(shown()));
    }

    void write_energy() { add(energy_text(shown())); }

    void write_comparison() {
        if (!report_["comparison"].empty()) add(comparison_text(report_, look_));
    }

    void write_claim() {
        if (has("claim")) add(claim_text(report_["claim"], look_));
        if (has("call") && !report_["call"]["against"].empty()) add(call_text(report_, look_));
    }

    /// Segments of the host, those that are alike as one unless all layers are wanted.
    void write_segments(const Json& operations) {
        const bool are_groups = has("repeated_host_work") && !all_layers_;
        std::vector<const Json*> shown;
        std::vector<std::string> names;
        for (const Json& each : are_groups ? report_["repeated_host_work"] : operations) {
            if (!are_groups && each["kind"] != "segment") continue;
            shown.push_back(&each);
            names.push_back(are_groups ? each["name"].get<std::string>() : segment_text(each));
        }
        names = terminal::told_apart(names, 18);
        for (std::size_t i = 0; i < shown.size(); ++i) write_segment(*shown[i], names[i]);
    }

    void write_segment(const Json& segment, std::string_view name) {
        const std::uint64_t count = segment.value("count", std::uint64_t{1});
        const std::uint64_t images = segment["images"];
        std::string each;
        if (count > 1) {
            const std::string least = si(number_at(segment, "least_seconds"), "s");
            const std::string most = si(number_at(segment, "most_seconds"), "s");
            each = fmt::format("{} times {}", grouped(count),
                               least == most ? least : fmt::format("{} to {}", least, most));
        }
        entry(name, si(number_at(segment, "seconds"), "s"),
              remark_of({report_["host_at_least"].get<bool>() ? "at least" : "", each,
                         fmt::format("{} of the run", percent(number_at(segment, "share"))),
                         fmt::format("{} inference{}", grouped(images), images == 1 ? "" : "s")}));
    }

    void write_host() {
        const Json& operations = report_["host_operations"];
        if (operations.empty()) return;
        line("");
        const auto is_segment = [](const Json& operation) { return operation["kind"] == "segment"; };
        const bool at_least = report_["host_at_least"];
        const auto seconds = [](const Json& operation) { return si(number_at(operation, "seconds"), "s"); };
        if (std::ranges::any_of(operations, is_segment)) {
            line("{}", heading("Work of the host, in the time above"));
            write_segments(operations);
        }
        if (!std::ranges::all_of(operations, is_segment)) {
            line("{}", heading("Left to the host, not in the time above"));
            for (const Json& operation : operations) {
                if (is_segment(operation)) continue;
                const std::string_view basis = operation["seconds"].is_null() ? "not timed: no host given"
                                               : at_least                     ? "at least, by its roofline"
                                                                              : "expected";
                entry(
                    fitted(operation["kind"].get<std::string>(), 18), seconds(operation),
                    fmt::format("{}; {}", with_both_ends(operation["layer"].get<std::string>(), 14), basis));
            }
        }
        if (has("host")) {
            note(2, fmt::format("(the host is {}; --host names another)", words("host")));
            write_host_basis(2);
        }
    }

    void write_simulator() {
        const Json& simulator = report_["simulator"];
        line("");
        note(0, fmt::format(
                    "Simulated in {}: {}, {}, {} peak memory", si(number_at(simulator, "wall_seconds"), "s"),
                    si(number_at(simulator, "simulated_cycles_per_second"), "cycles/s"),
                    report_["timing_only"].get<bool>() ? "timing only"
                                                       : si(number_at(simulator, "macs_per_second"), "MAC/s"),
                    bytes(simulator["peak_rss_bytes"].get<std::uint64_t>())));
    }

    void write_instructions() {
        if (has("instruction_times")) add(instruction_table(report_, look_));
    }

    void write_registers() {
        if (has("registers")) add(register_table(report_["registers"], look_));
    }

    void write_buffers() {
        for (const run::BufferContents& buffer : record_.printed) add(buffer_text(buffer, look_));
    }

    const Json& report_;
    const run::RunRecord& record_;
    const machine::UnitDescription& main_;
    const bool all_layers_;
    const std::uint64_t inferences_;
    const std::uint64_t batch_;
    bool chosen_ = false;  ///< the user chose the sections
};

std::vector<Writer::Section> Writer::sections() {
    std::vector<Section> all{{"training", &Writer::write_training}, {"summary", &Writer::write_headline}};
    for (const machine::NamedMainUnit& each : machine::main_units()) {
        all.push_back({each.name, &Writer::write_cycles, true});
    }
    constexpr std::array others{Section{"bounds", &Writer::write_bounds},
                                Section{"cores", &Writer::write_cores},
                                Section{"layers", &Writer::write_layers},
                                Section{"traffic", &Writer::write_traffic},
                                Section{"accuracy", &Writer::write_accuracy},
                                Section{"requests", &Writer::write_requests},
                                Section{"feeding", &Writer::write_feeding},
                                Section{"energy", &Writer::write_energy},
                                Section{"area", &Writer::write_area},
                                Section{"comparison", &Writer::write_comparison},
                                Section{"claim", &Writer::write_claim},
                                Section{"host", &Writer::write_host},
                                Section{"instructions", &Writer::write_instructions},
                                Section{"registers", &Writer::write_registers},
                                Section{"buffers", &Writer::write_buffers},
                                Section{"simulator", &Writer::write_simulator}};
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

}  // namespace

std::vector<std::string_view> section_names() {
    std::vector<std::string_view> names;
    for (const Writer::Section& section : Writer::sections()) names.push_back(section.name);
    return names;
}

std::string to_text(const Json& report, const run::RunRecord& record, std::span<const std::string> sections,
                    const terminal::Look& look, bool all_layers) {
    return Writer(report, record, look, all_layers).write(sections);
}

}  // namespace systole::report
