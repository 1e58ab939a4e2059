// The report as text for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/view/report/numbers.h"
#include "sim/view/report/report.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

using terminal::fitted;
using terminal::Role;
using terminal::with_both_ends;

std::string rough_number(std::optional<double> value) {
    return rough(value, "");
}

/// Parts of a remark, those that are not empty, with "; " between.
std::string remark(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) {
        if (!part.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", part);
    }
    return text;
}

/// Why a program that states its batches has no latency.
constexpr std::string_view no_results = "the program has not written results of each batch";

/// So many layers of the host are named.
constexpr std::size_t named_layers = 3;

/// Names in few columns each; in more where they would look the same.
std::vector<std::string> in_few_columns(std::span<const std::string> names) {
    constexpr std::size_t preferred = 24;
    constexpr std::size_t most = 96;
    constexpr std::size_t step = 4;
    const std::set<std::string> different(names.begin(), names.end());
    for (std::size_t width = preferred; width <= most; width += step) {
        std::vector<std::string> shown;
        for (const std::string& name : names) shown.push_back(with_both_ends(name, width));
        if (std::set(shown.begin(), shown.end()).size() == different.size()) return shown;
    }
    return terminal::told_apart(names, most);
}

}  // namespace

std::string layers_text(std::span<const std::string> names) {
    std::string text;
    const std::size_t count = names.size();
    // One more takes no more room than "and 1 more".
    const std::size_t named = count == named_layers + 1 ? count : std::min(count, named_layers);
    const std::vector<std::string> shown = in_few_columns(names.first(named));
    for (std::size_t i = 0; i < named; ++i) {
        const std::string_view between = i == 0 ? "" : i + 1 == count ? " and " : ", ";
        text += fmt::format("{}{}", between, shown[i]);
    }
    if (named < count) text += fmt::format(" and {} more", grouped(count - named));
    return text;
}

std::string layers_text(const HostShare& share) {
    std::vector<std::string> names;
    names.reserve(share.layers.size());
    for (const HostShare::Layer& layer : share.layers) names.push_back(layer.name);
    return layers_text(names);
}

namespace {

class Writer : ReportLines {
public:
    Writer(const Report& report, const terminal::Look& look, bool all_layers)
        : ReportLines(look), report_(report), json_(to_json(report)), all_layers_(all_layers) {}

    /// A part of the text. Each begins with an empty line, which is removed from the first.
    struct Section {
        std::string_view name;
        void (Writer::*write)();
    };
    static const std::array<Section, 17> sections;

    std::string write(std::span<const std::string> chosen) && {
        chosen_ = !chosen.empty();
        for (const Section& section : sections) {
            if (!chosen_ || std::find(chosen.begin(), chosen.end(), section.name) != chosen.end()) {
                const std::size_t before = text_.size();
                (this->*section.write)();
                if (text_.size() == before) write_absent(section.name);
            }
        }
        text_.erase(0, text_.find_first_not_of('\n'));
        return take();
    }

private:
    /// Says why a section that the user chose, or whose figures the run asks for, has nothing.
    void write_absent(std::string_view section) {
        std::string why;
        if (section == "requests") why = report_.left_out.requests;
        if (section == "comparison" || (section == "claim" && chosen_)) why = report_.left_out.comparison;
        if (std::ranges::find(main_units, section) != main_units.end()) {
            why = chosen_ ? fmt::format("the main unit of {} is {}", report_.machine, report_.main.name) : "";
        }
        if (chosen_ && section == "area" && !area::is_known(report_.units_drawn)) {
            why = fmt::format("it is not known for the units of {}", report_.machine);
        }
        if (why.empty() && chosen_) why = usual_reason(section);
        if (why.empty()) return;
        line("");
        note(0, fmt::format("no {}: {}", section, why));
    }

    static std::string_view usual_reason(std::string_view section) {
        static constexpr std::array reasons{
            std::pair{"bounds", "no part of the machine has work"},
            std::pair{"accuracy", "no layer has numbers to compare"},
            std::pair{"requests", "the run asks for none; give --arrivals or --latency-limit"},
            std::pair{"area", "the machine does not say its process"},
            std::pair{"comparison", "the run names no baseline; give --baseline"},
            std::pair{"claim", "the run names no baseline; give --baseline"},
            std::pair{"host", "the run leaves no work to it"},
        };
        const auto found = std::ranges::find(reasons, section, [](const auto& each) { return each.first; });
        return found == reasons.end() ? "the run has none" : found->second;
    }

    void write_headline() {
        const Report& r = report_;
        // Both names may have any length, so the line is wrapped.
        const std::size_t second = columns_ * 3 / 8;
        const std::size_t first = columns_ - second - 10;
        const std::string title = fmt::format("{} on {}", fitted(r.model, first), fitted(r.machine, second));
        if (r.inferences == 0) {
            line("{}", heading(title));
        } else {
            const std::string amount =
                fmt::format("{} inference{} {}", grouped(r.inferences), r.inferences == 1 ? "" : "s",
                            batches_text(r.batching, r.batch, r.inferences));
            const bool one_line = title.size() + 2 + amount.size() <= columns_;
            if (one_line) {
                line("{}: {}", heading(title), amount);
            } else {
                line("{}:", heading(title));
                note(2, amount);
            }
        }
        for (const auto& [key, value] : r.machine_settings) {
            line("  with {} = {}", fitted(key, first), fitted(value, second));
            // Only another simulation shows whether larger or smaller pieces of a layer are slower.
            const bool is_of_pieces = key == "accumulators.rows" && r.batching && !r.explanations;
            if (is_of_pieces) note(4, "(sim explain says whether this makes the run slower, and why)");
        }
        line("");
        write_host_share();
        write_answers();
        const auto remark = [this](const Figure& figure, std::optional<double> value) {
            return remark_of(figure, value);
        };
        figure_lines(Figure::Part::Time, json_, remark);
        if (r.inferences > 0) write_batching();
        if (!r.left_out.speed.empty()) {
            // Multiply-accumulates of the host are named before all figures.
            if (!r.host_share) entry("throughput", "-", r.left_out.speed);
            return;
        }
        figure_lines(Figure::Part::Speed, json_, remark);
        if (r.call && r.latency) write_call(*r.call);
    }

    /// Whose host the latencies belong to.
    void write_call(const Call& call) {
        note(4, fmt::format("(of each call, {:g} us are the host's{}; its link: {:g} GB/s in, {:g} GB/s out)",
                            call.host_us, call.host.empty() ? "" : ", " + call.host, call.read_gb_per_s,
                            call.write_gb_per_s));
    }

    /// The words beside a figure of the summary; nothing where it has no line.
    std::optional<std::string> remark_of(const Figure& figure, std::optional<double> value) const {
        const Report& r = report_;
        if (figure.key() == "seconds") {
            return fmt::format("{} cycles at {:g} MHz", grouped(r.cycles), r.clock_mhz);
        }
        if (figure.key() == "inferences_per_second") {
            return r.inferences > 0 ? std::optional(std::string()) : std::nullopt;
        }
        if (figure.key() == "latency_ms") return latency_remark();
        if (figure.key() == "call.warm_ms") return warm_remark();
        if (figure.key() == "seconds_per_batch") return interval_remark();
        if (figure.key() == "tops.achieved") {
            return fmt::format("{} of the peak of {}", percent(r.peak_share), si(r.peak_tops * 1e12, "OPS"));
        }
        if (r.roofline && figure.key() == "roofline.macs_per_weight_byte") {
            return fmt::format("at most {} here; ridge at {}", si(r.roofline->bound_tops * 1e12, "OPS"),
                               amount(r.roofline->ridge, ""));
        }
        return value ? std::optional(std::string(figure.line.remark)) : std::nullopt;
    }

    /// "mean of 3 batches".
    std::string batches() const {
        return report_.batches == 1 ? "of the one batch"
                                    : fmt::format("mean of {} batches", grouped(report_.batches));
    }

    std::optional<std::string> latency_remark() const {
        const Report& r = report_;
        if (r.batches == 0) return std::nullopt;
        if (!r.latency) return std::string(no_results);
        if (r.batches == 1) return batches();
        return fmt::format("{}, at most {}", batches(), si(r.latency->largest, "s"));
    }

    std::optional<std::string> warm_remark() const {
        const Report& r = report_;
        if (!r.call || !r.latency) return std::nullopt;
        if (!r.call->warm) return "give two inferences: the second call finds the parameters in the memory";
        return r.call->later == 1 ? "the second call"
                                  : fmt::format("mean of the {} later calls", grouped(r.call->later));
    }

    /// Batches overlap: from its first byte to its last, one takes longer than the interval between them. One
    /// alone has its latency only.
    std::optional<std::string> interval_remark() const {
        const Report& r = report_;
        if (r.batches == 0 || (r.batches == 1 && r.latency)) return std::nullopt;
        const std::uint64_t rest = r.inferences % r.batch;
        return rest == 0 ? batches() : fmt::format("{}, the last of {}", batches(), grouped(rest));
    }

    /// What left the chip comes before all figures, which would otherwise be taken for those of the chip.
    void write_host_share() {
        if (!report_.host_share) return;
        const HostShare& share = *report_.host_share;
        entry("on the host", percent(share.macs_share),
              fmt::format("of the multiply-accumulates: {}; computing them takes {}{} of the time",
                          layers_text(share), report_.host_at_least ? "at least " : "",
                          percent(share.seconds_share)));
        write_host_basis(4);
        if (share.is_all) note(4, "(the chip has none, so there is no figure of its speed)");
    }

    /// On what the time of the host's work rests, where it is not known by operator.
    void write_host_basis(std::size_t indent) {
        if (report_.host_known_of.empty()) return;
        note(indent, fmt::format("(rates of {} are known of no operator, only of {})", report_.host,
                                 report_.host_known_of));
    }

    /// What became of a batch that does not fit.
    void write_batching() {
        if (!report_.batching || report_.batching->text.empty()) return;
        const Batching& batching = *report_.batching;
        const std::uint64_t together = batching.slices > 1 ? batching.done.at_a_time : batching.done.group;
        entry("batch", fmt::format("{} at a time", grouped(together)),
              fmt::format("of {} asked for", grouped(batching.asked)));
        note(4, fmt::format("({})", batching.text));
    }

    void write_answers() {
        const Report& r = report_;
        if (r.timing_only) entry("answers", "-", "timing only: no values were computed");
        for (const std::string& name : r.unfilled_buffers) {
            entry("input " + fitted(name, 12), "zeros", "a constant buffer would bring values");
        }
        for (const auto& [input, layer] : r.pixel_scaling) {
            entry("pixels", "0 to 255",
                  fmt::format("the network scales them: {}", with_both_ends(layer, 24)));
        }
        if (r.accuracy) {
            const auto right =
                static_cast<std::uint64_t>(std::llround(*r.accuracy * static_cast<double>(r.inferences)));
            entry("accuracy", fmt::format("{:.2f} %", 100.0 * *r.accuracy),
                  fmt::format("{} of {} right", grouped(right), grouped(r.inferences)));
        }
        if (r.float_accuracy) entry("  in float", fmt::format("{:.2f} %", 100.0 * *r.float_accuracy), "");
        if (r.float_agreements) {
            entry("  like float", percent(share_of(*r.float_agreements, r.inferences)),
                  fmt::format("{} of {} alike", grouped(*r.float_agreements), grouped(r.inferences)));
        }
        if (!r.accuracy && !r.predictions.empty()) write_first_predictions();
        for (std::size_t i = 0; i < r.best_classes.size(); ++i) write_best_classes(i);
    }

    void write_best_classes(std::size_t inference) {
        std::string label = fmt::format("image {}", inference);
        for (const auto& [number, score, name] : report_.best_classes[inference].classes) {
            const std::string value = report_.are_probabilities ? fmt::format("{:.1f} %", 100.0F * score)
                                                                : fmt::format("{:.4g}", score);
            const std::string before = fmt::format("  {:<18}{:>8}  {:>6}  ", label, value, number);
            line("{}{}", before, fitted(name, columns_ - before.size()));
            label.clear();
        }
    }

    void write_first_predictions() {
        constexpr std::size_t most = 8;
        const std::size_t count = std::min(most, report_.predictions.size());
        std::string shown;
        std::size_t i = 0;
        for (; i < count; ++i) {
            std::string one = fmt::format("{}", report_.predictions[i]);
            if (i < report_.first_probabilities.size()) {
                one += fmt::format(" ({:.0f} %)", 100.0F * report_.first_probabilities[i]);
            }
            if (shown.size() + one.size() > columns_ - 26) break;  // "  predictions" and ", ..."
            shown += (shown.empty() ? "" : ", ") + one;
        }
        if (report_.predictions.size() > i) shown += ", ...";
        line("  {:<18}{}", "predictions", shown);
    }

    /// The units that are the main one in some machine; each has a section of its name.
    static constexpr std::array<std::string_view, 2> main_units{"matrix_unit", "tile_array"};

    template <std::size_t Unit>
    void write_main_unit() {
        if (report_.main.name == main_units[Unit]) write_cycles();
    }

    void write_cycles() {
        const MainUnit& unit = report_.main_unit;
        line("");
        constexpr std::size_t before_cycles = 26;
        const std::string& title = report_.main.box->title;
        line("{}{}cycles    share", heading(title),
             std::string(before_cycles - std::min(title.size(), before_cycles), ' '));
        std::size_t place = 0;
        for (const Figure& figure : figures_of(Figure::Part::MainUnit)) {
            if (!figure.key().starts_with(report_.main.name)) continue;
            const Role role = terminal::role_of_class(place++);
            const auto share = value_of(figure, json_);
            line("  {}{:>14}  {:>7}  {}", look_.paint(role, fmt::format("{:<16}", figure.name)),
                 figure_text(number_at(json_, figure.key()), "count"), figure_text(share, figure.format),
                 look_.paint(role, bar_for(share)));
        }
        write_reasons(unit);
        const std::uint64_t macs = unit.useful_macs + unit.unused_macs;
        line_and(
            fmt::format("  useful MACs     {:>14}  {:>7}  ", si(static_cast<double>(unit.useful_macs), ""),
                        percent(share_of(unit.useful_macs, macs))),
            report_.main.main->cells);
    }

    /// The parts of a class: the reasons for it, or the kinds of work; the longest first.
    void write_reasons(const MainUnit& unit) {
        CounterValues sorted;
        for (const MainGroup& group : unit.groups) {
            std::ranges::copy_if(group.counters, std::back_inserter(sorted),
                                 [](const auto& each) { return each.first.ends_with("_cycles"); });
        }
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        for (const auto& [key, cycles] : sorted) {
            if (cycles == 0) return;
            const auto [name, meaning] = words_of(key);
            line_and(fmt::format("    {:<14}{:>14}  {:>7}  ", name, grouped(cycles),
                                 percent(share_of(cycles, report_.cycles))),
                     meaning);
        }
    }

    /// The words for a part: its label, or what its counter says. Labels mean what they do in the family
    /// tpu_v1.
    std::pair<std::string, std::string> words_of(std::string_view key) const {
        const auto found =
            std::ranges::find(report_.meanings, key, [](const auto& each) { return each.first; });
        std::string meaning = found == report_.meanings.end() ? std::string() : found->second;
        if (const ReasonLabel label = label_of(key); label.name != key) {
            return {std::string(label.name),
                    report_.parts.names_classes ? std::move(meaning) : std::string(label.meaning)};
        }
        std::string name(key.substr(0, key.rfind("_cycles")));
        std::ranges::replace(name, '_', ' ');
        return {std::move(name), std::move(meaning)};
    }

    struct ReasonLabel {
        std::string_view key;
        std::string_view name;
        std::string_view meaning;
    };
    /// A reason of which no label is known has its key as a name.
    static ReasonLabel label_of(std::string_view key) {
        static constexpr ReasonLabel labels[] = {
            {"raw_cycles", "RAW", "rows were still being activated"},
            {"input_cycles", "input", "rows were still coming from the host"},
            {"accumulators_cycles", "accumulators", "sums there were still being read"},
            {"output_buffer_cycles", "output buffer", "results there were not fetched yet"},
            {"input_buffer_cycles", "input buffer", "rows for the host's data were in use"},
            {"vector_work_cycles", "vector work", "pooling or element-wise work"},
            {"setup_cycles", "data setup", "a line of windows was being read"},
            {"port_cycles", "port", "a memory port was taken"},
            {"not_arrived_cycles", "not arrived", "an instruction was still on its way"},
            {"queue_full_cycles", "queue full", "an instruction's queue was full"},
            {"issue_cycles", "issue", "earlier instructions went before it"},
            {"sync_cycles", "sync", "a semaphore came later than the rows"},
            {"program_begin_cycles", "program begin", "before the first matrix instruction"},
            {"program_end_cycles", "program end", "after the last rows had entered"},
            {"host_cycles", "host", "the host computed, or its data moved"},
        };
        for (const ReasonLabel& label : labels) {
            if (label.key == key) return label;
        }
        return {key, key, {}};
    }

    /// What the machine needs at least, and how far the mapping and the schedule are from it.
    void write_bounds() {
        const Bounds& bounds = report_.bounds;
        const LeastCycles largest = bounds.largest();
        if (largest.cycles == 0) return;
        line("");
        line("{}                    cycles    share", heading("Bounds"));
        const auto write = [&](std::string_view name, std::uint64_t cycles, const std::string& remark) {
            line_and(fmt::format("  {:<16}{:>14}  {:>7}  ", name, grouped(cycles),
                                 percent(share_of(cycles, report_.cycles))),
                     remark);
        };
        std::string name = largest.name;
        std::ranges::replace(name, '_', ' ');
        write(name, largest.cycles, fmt::format("at least: {}", largest.meaning));
        const LeastCycles& macs = bounds.at("macs");
        write(macs.part, macs.cycles, macs.meaning);
        for (const Figure& figure : figures_of(Figure::Part::Bounds)) {
            const auto value = value_of(figure, json_);
            if (!value) continue;
            const bool is_fill = figure.line.remark.empty();
            line_and(fmt::format("  {:<16}{:>14}           ", figure.name, figure_text(value, figure.format)),
                     is_fill ? std::string_view(report_.main.main->fill_meaning) : figure.line.remark);
        }
    }

    void write_layers() {
        if (report_.layers.size() < 2 && !chosen_) return;  // a single layer would repeat the figures above
        text_ += '\n' + layer_table(report_, look_, all_layers_);
    }

    void write_traffic() {
        line("");
        line_and(heading("Traffic") + std::string(20, ' ') + "bytes   ", "of the path's bandwidth");
        for (const Traffic& path : report_.traffic) {
            line("  {:<16}{:>14}  {:>7}  {}", path.label, bytes(path.bytes), percent(path.utilization),
                 bar_for(path.utilization));
        }
        line("{}", heading("Memory"));
        const auto memory = [&](std::string_view name, std::uint64_t used, std::uint64_t all) {
            line("  {:<16}{:>14}  {:>7}  of {}", name, bytes(used), percent(share_of(used, all)), bytes(all));
        };
        for (const machine::UnitDescription& unit : report_.units_drawn) {
            if (!unit.box || !unit.box->filled) continue;
            std::string name = unit.box->title;
            name.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
            memory(name, unit.box->filled->used_bytes, unit.box->filled->bytes);
        }
        if (report_.spilled_weight_bytes > 0) {
            line("  {:<16}{:>14}  in host memory, read over the host link", "spilled weights",
                 bytes(report_.spilled_weight_bytes));
        }
        if (report_.cut_images) note(4, fmt::format("({})", cut_images_text(*report_.cut_images)));
    }

    void write_accuracy() {
        if (!report_.layer_accuracy.empty()) text_ += '\n' + accuracy_text(report_, look_);
    }

    void write_requests() {
        if (report_.requests) text_ += '\n' + requests_text(*report_.requests, look_);
    }

    /// A study of machines asks for it; most runs have the machine of all others.
    void write_area() {
        const bool is_shown = chosen_ && area::is_known(report_.units_drawn);
        const std::string text = is_shown ? area_text(report_, look_) : std::string();
        if (!text.empty()) text_ += '\n' + text;
    }

    void write_energy() { text_ += '\n' + energy_text(report_, json_, look_); }

    void write_comparison() {
        if (report_.comparison.empty()) return;
        line("");
        line("{}", heading("Comparison, die against die"));
        write_host_time(report_.host_time);
        for (const Comparison& other : report_.comparison) {
            line("");
            line("{}", heading("Against one die of " + fitted(other.baseline, columns_ - 30)));
            entry("at most", rough(other.inferences_per_second, "inf/s"),
                  fmt::format("upper bound: fp32 roofline, {}-bound",
                              other.memory_bound ? "memory" : "compute"));
            entry("speedup", rough_times(other.speedup), at_least(other.speedup, other.ratio_band));
            if (other.int8_speedup) {
                entry("  over its int8", rough_times(other.int8_speedup),
                      at_least(*other.int8_speedup, other.ratio_band));
            }
            write_performance_per_watt("performance/W", other.performance_per_watt, other.ratio_band);
            if (other.expected) write_expected(other);
            if (other.measured) write_measured(*other.measured);
        }
    }

    void write_host_time(const HostTime& host) {
        std::string text = host_time_text(host);
        if (host.in_chip() && !host.source.empty()) text += fmt::format(" ({})", host.source);
        note(2, text);
        const auto has_band = [](const Comparison& each) { return each.expected && each.expected->band; };
        const bool of_models = std::ranges::any_of(report_.comparison, has_band);
        if (host.in_chip()) {
            entry("chip and host", rough(host.inferences_per_second, "inf/s"),
                  band_text(host.inferences_per_second, host.band, rough_number));
        }
        if (!host.in_chip() && !of_models) return;
        const bool both = host.in_chip() && of_models;
        note(2, fmt::format("(ranges: the least and the most of {}{}{}{})", host.in_chip() ? "host time" : "",
                            both ? ", and of " : "", of_models ? "published figures over the model's" : "",
                            both ? "; a ratio combines both" : ""));
    }

    /// A speedup over an upper bound is a lower bound; only the host's share gives it a band.
    static std::string at_least(double speedup, const std::optional<baselines::Band>& band) {
        const std::string ends = band_text(speedup, band, rough_times);
        return remark({"at least", ends.empty() ? ends : ends + " by host time"});
    }

    void write_performance_per_watt(std::string_view label, const baselines::PerformancePerWatt& per_watt,
                                    const std::optional<baselines::Band>& band) {
        const auto ends = [&](std::optional<double> ratio) {
            return ratio ? band_text(*ratio, band, rough_times) : std::string();
        };
        entry(label, rough_times(per_watt.total),
              remark({ends(per_watt.total),
                      per_watt.total ? "total, by servers' TDP" : "total: a server's watts are not known"}));
        entry("", rough_times(per_watt.incremental),
              remark({ends(per_watt.incremental), "incremental, without host"}));
    }

    void write_expected(const Comparison& other) {
        const ComparisonExpected& expected = *other.expected;
        const baselines::Expected& model = expected.model;
        const baselines::Efficiency& efficiency = expected.efficiency;
        const std::string latency = model.latency_seconds
                                        ? fmt::format("99 % within {}", rough_si(model.latency_seconds, "s"))
                                        : std::string();
        entry("expected", rough(expected.inferences_per_second, "inf/s"),
              remark({band_text(expected.inferences_per_second, expected.band, rough_number),
                      fmt::format("batch {}", grouped(model.batch)), latency}));
        note(4, fmt::format("(with {:.3g} % of its peak, {:.3g} % of its bandwidth, {:.3g} us a layer{})",
                            100.0 * efficiency.peak_share, 100.0 * efficiency.memory_share,
                            efficiency.layer_microseconds,
                            other.host_time ? "" : "; without the time of its host"));
        entry("  speedup", rough_times(expected.speedup),
              band_text(expected.speedup, expected.ratio_band, rough_times));
        write_performance_per_watt("  performance/W", expected.performance_per_watt, expected.ratio_band);
    }

    void write_measured(const ComparisonMeasured& measured) {
        entry("measured", inference_rate(measured.fp32.inferences_per_second),
              "fp32: the network's products alone");
        entry("  in int8", inference_rate(measured.int8.inferences_per_second), "");
        entry("  speedup", rough_times(measured.fp32.speedup),
              at_least(measured.fp32.speedup, measured.fp32.ratio_band));
        entry("  over its int8", rough_times(measured.int8.speedup),
              at_least(measured.int8.speedup, measured.int8.ratio_band));
    }

    void write_claim() {
        if (report_.claim) text_ += '\n' + claim_text(*report_.claim, look_);
        const bool has_call = report_.call && !report_.call->against.empty();
        if (has_call) text_ += '\n' + call_text(report_, look_);
    }

    void write_host() {
        if (report_.host_operations.empty()) return;
        line("");
        const auto is_segment = [](const HostOperation& operation) { return operation.is_segment(); };
        if (std::ranges::any_of(report_.host_operations, is_segment)) {
            line("{}", heading("Work of the host, in the time above"));
            for (const HostOperation& operation : report_.host_operations) {
                if (!operation.is_segment()) continue;
                entry(with_both_ends(operation.layer, 18), si(operation.seconds, "s"),
                      fmt::format("{}{} of the run; {} inference{}",
                                  report_.host_at_least ? "at least; " : "", percent(operation.share),
                                  grouped(operation.images), operation.images == 1 ? "" : "s"));
            }
        }
        if (!std::ranges::all_of(report_.host_operations, is_segment)) {
            line("{}", heading("Left to the host, not in the time above"));
            for (const HostOperation& operation : report_.host_operations) {
                if (operation.is_segment()) continue;
                entry(fitted(operation.kind, 18), si(operation.seconds, "s"),
                      fmt::format("{}; {}", with_both_ends(operation.layer, 14), basis_of(operation)));
            }
        }
        if (!report_.host.empty()) {
            note(2, fmt::format("(the host is {}; --host names another)", report_.host));
            write_host_basis(2);
        }
    }

    std::string_view basis_of(const HostOperation& operation) const {
        if (!operation.seconds) return "not timed: no host given";
        return report_.host_at_least ? "at least, by its roofline" : "expected";
    }

    void write_simulator() {
        const Simulator& simulator = report_.simulator;
        line("");
        note(0, fmt::format("Simulated in {}: {}, {}, {} peak memory", si(simulator.wall_seconds, "s"),
                            si(simulator.simulated_cycles_per_second, "cycles/s"),
                            report_.timing_only ? "timing only" : si(simulator.macs_per_second, "MAC/s"),
                            bytes(simulator.peak_rss_bytes)));
    }

    void write_instructions() {
        if (report_.instruction_lines.empty()) return;
        text_ += '\n' + instruction_table(report_.instruction_lines, look_);
    }

    void write_registers() {
        if (report_.registers.cycles.empty()) return;
        text_ += '\n' + register_table(report_.registers, look_);
    }

    void write_buffers() {
        for (const run::BufferContents& buffer : report_.buffers) text_ += '\n' + buffer_text(buffer, look_);
    }

    const Report& report_;
    const nlohmann::ordered_json json_;  ///< report.json, from which figures are read
    const bool all_layers_;
    bool chosen_ = false;  ///< the user chose the sections
};

const std::array<Writer::Section, 17> Writer::sections{{{"summary", &Writer::write_headline},
                                                        {"matrix_unit", &Writer::write_main_unit<0>},
                                                        {"tile_array", &Writer::write_main_unit<1>},
                                                        {"bounds", &Writer::write_bounds},
                                                        {"layers", &Writer::write_layers},
                                                        {"traffic", &Writer::write_traffic},
                                                        {"accuracy", &Writer::write_accuracy},
                                                        {"requests", &Writer::write_requests},
                                                        {"energy", &Writer::write_energy},
                                                        {"area", &Writer::write_area},
                                                        {"comparison", &Writer::write_comparison},
                                                        {"claim", &Writer::write_claim},
                                                        {"host", &Writer::write_host},
                                                        {"instructions", &Writer::write_instructions},
                                                        {"registers", &Writer::write_registers},
                                                        {"buffers", &Writer::write_buffers},
                                                        {"simulator", &Writer::write_simulator}}};

}  // namespace

std::vector<std::string_view> section_names() {
    std::vector<std::string_view> names;
    names.reserve(Writer::sections.size());
    for (const Writer::Section& section : Writer::sections) names.push_back(section.name);
    return names;
}

std::string to_text(const Report& report, std::span<const std::string> sections, const terminal::Look& look,
                    bool all_layers) {
    return Writer(report, look, all_layers).write(sections);
}

}  // namespace systole::report
