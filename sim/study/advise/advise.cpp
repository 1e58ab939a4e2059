#include "sim/study/advise/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <utility>

#include "base/message_text.h"
#include "hw/machine/config_error.h"
#include "sim/study/advise/binding.h"
#include "sim/study/advise/wrong_machine.h"
#include "sim/study/explain/what_if.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report.h"

namespace systole::advise {
namespace {

/// Batches of a run: the first arrives and the last leaves while the machine works on no other.
constexpr std::uint64_t batches_of_a_run = 4;
/// The same of a machine with tiles: its first call brings the parameters.
constexpr std::uint64_t calls_of_a_run = 256;

std::vector<std::uint32_t> batches_of(const Question& question) {
    if (!question.programs.empty()) return {question.cores};
    return question.has_tiles ? std::vector<std::uint32_t>{1} : question.batches;
}

/// The keys of a run that the study keeps: machine, network and mapping. All others are removed: values,
/// outputs, and the input, whose number of images would be the limit.
run::RunConfig kept(const Question& question) {
    run::RunConfig config = explain::for_cycles(question.config);
    config.input.clear();
    config.random_input = 0;
    config.resize.clear();
    config.crop.clear();
    config.baselines = {question.cpu};
    return config;
}

/// Each value once.
template <class Value>
std::vector<nlohmann::json> axis_values(const std::vector<Value>& given) {
    std::vector<nlohmann::json> values;
    for (const Value& value : given) {
        if (std::ranges::find(values, nlohmann::json(value)) == values.end()) values.emplace_back(value);
    }
    return values;
}

/// Why a report has no figure of this kind; empty if it has.
std::string left_out(const report::Json& report, const char* what) {
    return report["left_out"].value(what, std::string());
}

/// The part that is the busiest of most layers, by cycles; "waiting" if those of all layers together take
/// less than two thirds of the run.
std::string limit_of(const run::RunRecord& record) {
    std::map<std::string, Cycle> by_part;
    Cycle all = 0;
    const std::size_t tags = std::max(record.program.layers.size() + 1, record.program.tags.size());
    for (std::size_t tag = 0; tag < tags; ++tag) {
        const machine::Bound& busiest = *report::largest_bound(record.bounds, static_cast<run::Tag>(tag));
        const Cycle cycles = busiest.value(static_cast<run::Tag>(tag));
        by_part[busiest.part] += cycles;
        all += cycles;
    }
    if (3 * all < 2 * record.cycles || by_part.empty()) return "waiting";
    return std::ranges::max_element(by_part, {}, [](const auto& part) { return part.second; })->first;
}

/// How often a multiply-accumulate that is needed passes the array; 0 without any.
double passes_of(const run::RunRecord& record) {
    const std::uint64_t needed = record.needed_macs();
    if (needed == 0) return 0.0;
    return static_cast<double>(record.counters.at(record.main_unit().main->macs).value()) /
           static_cast<double>(needed);
}

/// The figures of a further step, in place of those of a run that its state begins and ends.
void take_step(const run::RunRecord& record, const report::Json& report, Point& point) {
    const double run_rate = point.inferences_per_second;
    const double seconds = *report::number_at(report, "step.seconds");
    point.batch = static_cast<std::uint32_t>(record.program.examples);
    point.interval_seconds = seconds;
    point.inferences_per_second = *report::number_at(report, "step.examples_per_second");
    point.peak_share =
        *report::number_at(report, "step.bounds.macs") / *report::number_at(report, "step.cycles");
    // The CPU does as many steps of all replicas a second as before.
    if (point.speedup && run_rate > 0.0) *point.speedup *= record.program.batch / seconds / run_rate;
}

void add_tensor_core(const run::RunRecord& record, const report::Json& report, Point& point) {
    point.shares = shares_of(record);
    point.passes = passes_of(record);
    if (record.step) take_step(record, report, point);
}

Point point_of(std::uint32_t size, std::uint32_t batch, const run::RunOutcome& outcome) {
    Point point{.size = size, .batch = batch};
    if (!outcome.record) {
        point.error = outcome.error;
        return point;
    }
    const report::Json report = report::make_report(*outcome.record);
    if (const std::string why = left_out(report, "speed"); !why.empty()) {
        point.error =
            fmt::format("no figure of the speed of {}: {}", report["machine"].get<std::string>(), why);
        return point;
    }
    // Every network has inferences; a bare program has none.
    point.inferences_per_second = report::number_at(report, "inferences_per_second").value_or(0.0);
    const report::BatchSeconds times =
        report::batch_seconds(*outcome.record).value_or(report::BatchSeconds());
    point.latency_seconds = times.latency;
    point.interval_seconds = times.interval;
    const std::optional<double> achieved = report::number_at(report, "tops.achieved");
    if (achieved) point.peak_share = *achieved / *report::number_at(report, "tops.peak");
    point.limit = limit_of(*outcome.record);
    point.speedup = report::number_at(report, "comparison.0.expected.speedup");
    if (outcome.record->spec.machine.family == machine::Family::TensorCore) {
        add_tensor_core(*outcome.record, report, point);
    }
    return point;
}

std::vector<Point> points_of(std::span<const Point> points, std::uint32_t size) {
    std::vector<Point> found;
    for (const Point& point : points) {
        if (point.size == size && point.error.empty()) found.push_back(point);
    }
    return found;
}

/// "the array is the limit".
std::string limited(const std::string& limit) {
    if (limit == "waiting") return "work mostly waits for other work";
    return fmt::format("the {} is the limit", limit);
}

/// "900 inferences a second, 20.0 % of the array's peak".
std::string rates(const Point& point) {
    std::string speed = report::amount(point.inferences_per_second, "") + " inferences a second";
    if (!point.peak_share) return speed;
    return fmt::format("{}, {} of the array's peak", speed, report::percent(point.peak_share));
}

std::string fill_sentence(const std::string& machine, const std::string& model,
                          std::span<const Point> batches, const Point& filling) {
    if (batches.size() == 1) {
        return fmt::format("At batch {}, the only one here, {} does {}.", filling.batch, model,
                           rates(filling));
    }
    if (filling.batch == batches.back().batch) {
        return fmt::format("{} gains from larger batches up to the largest that was tried, {}: {}.", model,
                           filling.batch, rates(filling));
    }
    const Point& most = *std::ranges::max_element(batches, {}, &Point::inferences_per_second);
    const bool holds_on = std::ranges::all_of(batches, [&](const Point& point) {
        return point.batch < filling.batch ||
               point.inferences_per_second >= enough * most.inferences_per_second;
    });
    std::string text = fmt::format("{} batch {}{}, {} does at least {:.0f} % of its most on {}: {}.",
                                   holds_on ? "From" : "At", filling.batch, holds_on ? " on" : "", model,
                                   100.0 * enough, machine, rates(filling));
    if (most.batch == filling.batch) return text + " No other batch does more.";
    return text + fmt::format(" Batch {} does most: {} ({}).", most.batch, rates(most),
                              report::difference(most.inferences_per_second, filling.inferences_per_second)
                                  .value_or("the same"));
}

std::string limit_sentence(const Point& first, const Point& filling) {
    if (first.batch == filling.batch || first.limit == filling.limit) {
        return fmt::format("At batch {}, {}.", filling.batch, limited(filling.limit));
    }
    return fmt::format("At batch {}, {}; at batch {}, {}.", first.batch, limited(first.limit), filling.batch,
                       limited(filling.limit));
}

/// The point with the largest share of the peak among those of these sizes; null if none has one.
template <class IsSize>
const Point* best_filled(std::span<const Point> points, IsSize is_size) {
    const Point* best = nullptr;
    for (const Point& point : points) {
        if (!point.error.empty() || !point.peak_share || !is_size(point.size)) continue;
        if (best == nullptr || *point.peak_share > *best->peak_share) best = &point;
    }
    return best;
}

std::optional<std::string> size_sentence(std::span<const Point> points) {
    const Point* const own = best_filled(points, [](std::uint32_t size) { return size == 1; });
    const Point* const larger = best_filled(points, [](std::uint32_t size) { return size > 1; });
    if (own == nullptr || larger == nullptr) return std::nullopt;
    constexpr double noticeably = 1.1;
    const std::string most = fmt::format("{} of the peak", report::percent(larger->peak_share));
    if (*larger->peak_share <= *own->peak_share) {
        return fmt::format("Larger images fill the array no better: at most {}.", most);
    }
    if (*larger->peak_share <= noticeably * *own->peak_share) {
        return fmt::format("Larger images fill the array hardly better: at most {}, instead of {}.", most,
                           report::percent(own->peak_share));
    }
    return fmt::format("Images {} times as wide and high fill it best, with {} at batch {}.", larger->size,
                       most, larger->batch);
}

std::optional<std::string> cpu_sentence(const std::string& machine, const std::string& cpu,
                                        std::span<const Point> batches, const Point& filling) {
    if (!std::ranges::all_of(batches, [](const Point& point) { return point.speedup.has_value(); })) {
        return std::nullopt;
    }
    const auto is_slower = [](const Point& point) { return *point.speedup < 1.0; };
    const auto chip = [](const Point& point) {
        return fmt::format("{:.1f} times at batch {}", *point.speedup, point.batch);
    };
    const Point& first = batches.front();
    const auto slower = static_cast<std::size_t>(std::ranges::count_if(batches, is_slower));
    if (slower == 0) {
        return fmt::format("A die of {} is slower at every batch here: {} is expected to be quicker {}{}.",
                           cpu, machine, chip(first),
                           first.batch == filling.batch ? "" : " and " + chip(filling));
    }
    if (slower == batches.size()) {
        return fmt::format("A die of {} is expected to be the better choice at every batch here.", cpu);
    }
    std::string where = fmt::format("Up to batch {}", batches[slower - 1].batch);
    if (!std::ranges::all_of(batches.first(slower), is_slower)) {
        std::vector<std::uint32_t> those;
        for (const Point& point : batches) {
            if (is_slower(point)) those.push_back(point.batch);
        }
        where = fmt::format("At batch {}", fmt::join(those, ", "));
    }
    const Point& quicker =
        is_slower(filling) ? *std::ranges::max_element(batches, {}, &Point::speedup) : filling;
    return fmt::format(
        "{}, a die of {} is expected to be the better choice; at batch {}, {} is quicker {:.1f} times.",
        where, cpu, quicker.batch, machine, *quicker.speedup);
}

}  // namespace

const Point* filling_point(std::span<const Point> points, std::uint32_t size, double share) {
    double most = 0.0;
    for (const Point& point : points) {
        if (point.size == size && point.error.empty()) most = std::max(most, point.inferences_per_second);
    }
    const auto found = std::ranges::find_if(points, [&](const Point& point) {
        return point.size == size && point.error.empty() && point.inferences_per_second >= share * most;
    });
    return found == points.end() ? nullptr : &*found;
}

namespace {

/// Of a machine whose batch is always 1.
std::vector<std::string> sentences_without_batch(const std::string& machine, const std::string& model,
                                                 const std::string& cpu, std::span<const Point> points) {
    const std::vector<Point> own = points_of(points, 1);
    if (own.empty()) return {};
    const Point& point = own.front();
    const auto share = [](const Point& of) {
        return of.peak_share ? fmt::format(", {} of the peak", report::percent(of.peak_share)) : "";
    };
    std::vector<std::string> sentences{
        fmt::format("{} takes one image at a time, so that there is no batch to choose. Once it has the "
                    "parameters, {} does "
                    "{} inferences a second{}: one takes {:.3f} ms.",
                    machine, model, report::amount(point.inferences_per_second, ""), share(point),
                    1e3 * point.latency_seconds)};
    std::string limit = limited(point.limit);
    limit.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(limit.front())));
    sentences.push_back(limit + ".");
    const Point* const larger = best_filled(points, [](std::uint32_t size) { return size > 1; });
    if (larger != nullptr && point.peak_share) {
        const bool is_better = *larger->peak_share > *point.peak_share;
        sentences.push_back(
            is_better ? fmt::format("Images {} times as wide and high fill it better, with {} of the peak.",
                                    larger->size, report::percent(larger->peak_share))
                      : fmt::format("Larger images fill it no better: at most {} of the peak.",
                                    report::percent(larger->peak_share)));
    }
    if (point.speedup) {
        sentences.push_back(*point.speedup < 1.0
                                ? fmt::format("A die of {} is expected to be {:.1f} times as quick.", cpu,
                                              1.0 / *point.speedup)
                                : fmt::format("It is expected to be {:.1f} times as quick as a die of {}.",
                                              *point.speedup, cpu));
    }
    return sentences;
}

}  // namespace

std::vector<std::string> sentences_for(const std::string& machine, const std::string& model,
                                       const std::string& cpu, std::span<const Point> points, bool has_tiles,
                                       std::uint32_t cores, bool is_fixed) {
    if (has_tiles) return sentences_without_batch(machine, model, cpu, points);
    const std::vector<Point> batches = points_of(points, 1);
    const Point* const filling = filling_point(batches, 1);
    if (filling == nullptr) return {};
    std::vector<std::string> sentences{fill_sentence(machine, model, batches, *filling)};
    std::vector<std::string> binding = binding_sentences(batches);
    if (binding.empty()) sentences.push_back(limit_sentence(batches.front(), *filling));
    std::ranges::move(binding, std::back_inserter(sentences));
    if (auto sentence = size_sentence(points)) sentences.push_back(*std::move(sentence));
    if (auto sentence = cpu_sentence(machine, cpu, batches, *filling))
        sentences.push_back(*std::move(sentence));
    if (is_fixed && batches.size() == 1) return sentences;
    const bool may_gain = filling->batch == batches.back().batch && batches.size() > 1;
    sentences.push_back(fmt::format(
        "So the rule for this network is batch = {}{} x cores. {} has {}; the rule of the article on "
        "Colab's TPU with eight is 64 x cores.",
        may_gain ? "at least " : "", filling->batch / cores, machine,
        cores == 1 ? "one core" : counted(cores, "core")));
    return sentences;
}

namespace {

/// Says what part of the network runs on the host, which no batch changes; absent if none does.
std::optional<std::string> host_sentence(std::span<const run::RunOutcome> outcomes) {
    for (const run::RunOutcome& outcome : outcomes) {
        if (!outcome.record) continue;
        const report::Json report = report::make_report(*outcome.record);
        const report::Json& share = report["host_share"];
        if (share.is_null()) return std::nullopt;
        return fmt::format("{} of the multiply-accumulates run on the host, not on {}: {}.",
                           report::percent(report::number_at(share, "macs_share")),
                           report["machine"].get<std::string>(), report::host_layers_text(share));
    }
    return std::nullopt;
}

/// Says why the chip is not compared with the CPU; absent if it is.
std::optional<std::string> no_comparison_sentence(const std::string& cpu,
                                                  std::span<const run::RunOutcome> outcomes) {
    for (const run::RunOutcome& outcome : outcomes) {
        if (!outcome.record) continue;
        const report::Json report = report::make_report(*outcome.record);
        if (!left_out(report, "speed").empty()) continue;
        const std::string why = left_out(report, "comparison");
        if (why.empty()) return std::nullopt;
        return fmt::format("No comparison with {}: {}.", cpu, why);
    }
    return std::nullopt;
}

/// Says that a program has its batch, and which.
std::string fixed_batch_sentence(const run::RunRecord& record) {
    const run::ProgramFacts& program = record.program;
    const std::uint32_t cores = record.spec.machine.cores();
    if (program.examples == 0) {
        return fmt::format(
            "The batch of {} is fixed by the program, whose shapes have it: here are calls of it{}.",
            program.model, cores == 1 ? "" : fmt::format(", one on each of {} cores", cores));
    }
    return fmt::format("The batch of {} is fixed by the program: a step has {}, {} on a core.", program.model,
                       counted(program.examples, "example"), report::grouped(program.examples_of_core));
}

/// A sentence says why there is no result of a size; its points are dropped. Larger sizes fail like it.
void drop_sizes_without_results(std::span<const std::uint32_t> sizes, Advice& advice) {
    bool is_said = false;
    for (const std::uint32_t size : sizes) {
        const auto of_size = [size](const Point& point) { return point.size == size; };
        if (!points_of(advice.points, size).empty()) continue;
        const std::string error = std::ranges::find_if(advice.points, of_size)->error;
        if (!std::exchange(is_said, true)) {
            advice.sentences.push_back(
                fmt::format("Images {} times as wide and high cannot be run: {}.", size, error));
        }
        std::erase_if(advice.points, of_size);
    }
}

}  // namespace

sweep::StudyDefinition study_of(const Question& question) {
    sweep::StudyDefinition study{.name = "advice", .run_file = question.config.file};
    const run::RunConfig config = kept(question);
    const nlohmann::ordered_json wanted = run::to_json(config);
    const nlohmann::ordered_json absent = run::to_json(run::RunConfig());
    const auto is_apart = [&question](const std::string& key) {
        return key == "schema" || key == "machine_settings" || key == "batch" || key == "limit" ||
               key == "size_multiplier" || (key == "model" && !question.programs.empty());
    };
    // First what the run file may have and the study does not; then what it has.
    for (const auto& [key, value] : absent.items()) {
        if (!is_apart(key)) study.settings.push_back({key, nullptr});
    }
    for (const auto& [key, value] : wanted.items()) {
        if (!is_apart(key) && value != absent.value(key, nlohmann::ordered_json())) {
            std::erase_if(study.settings,
                          [&name = key](const run::Setting& setting) { return setting.key == name; });
            study.settings.push_back({key, value});
        }
    }
    for (const run::Setting& setting : config.machine_settings) {
        study.settings.push_back({"machine." + setting.key, setting.value});
    }
    if (question.programs.empty()) {
        study.axes = {{.key = "size_multiplier", .values = axis_values(question.sizes), .whole = true},
                      {.key = "batch", .values = axis_values(batches_of(question)), .whole = true}};
    } else {
        study.axes = {{.key = "model", .values = axis_values(question.programs)},
                      {.key = "batch", .values = axis_values(batches_of(question)), .whole = true}};
    }
    study.derive = {
        {"limit", fmt::format("{} * batch", question.has_tiles ? calls_of_a_run : batches_of_a_run)}};
    study.metrics = {{.name = "speedup_over_cpu",
                      .formula = "max: comparison.0.expected.speedup",
                      .meaning = "speed over the CPU of the question"}};
    return study;
}

Advice advise(const Question& question, std::span<const run::RunOutcome> outcomes) {
    Advice advice;
    advice.cores = question.cores;
    const bool is_fixed = !question.programs.empty();
    if (is_fixed) advice.points.resize(axis_values(question.programs).size(), {.batch = question.cores});
    for (const nlohmann::json& size : axis_values(is_fixed ? std::vector<std::uint32_t>() : question.sizes)) {
        for (const nlohmann::json& batch : axis_values(batches_of(question))) {
            advice.points.push_back({.size = size, .batch = batch});
        }
    }
    for (std::size_t i = 0; i < advice.points.size(); ++i) {
        Point& point = advice.points[i];
        point = point_of(point.size, point.batch, outcomes[i]);
        if (!outcomes[i].record) continue;
        const run::RunRecord& record = *outcomes[i].record;
        advice.machine = record.spec.machine.name;
        advice.model = record.program.model;
        if (!question.has_tiles && !point.shares.empty()) {
            point.images_of_core = is_fixed || question.is_program ? record.program.examples_of_core
                                                                   : point.batch / question.cores;
        }
    }
    std::ranges::stable_sort(advice.points, {},
                             [](const Point& point) { return std::pair(point.size, point.batch); });
    const auto works = [](const Point& point) { return point.error.empty(); };
    if (std::ranges::none_of(advice.points, works)) {
        throw machine::ConfigError(advice.points.empty() ? "there is no batch to try"
                                                         : advice.points.front().error);
    }
    advice.cpu = question.cpu;
    advice.sentences = sentences_for(advice.machine, advice.model, advice.cpu, advice.points,
                                     question.has_tiles, question.cores, is_fixed || question.is_program);
    if (const Point* const best = filling_point(advice.points, 1); best != nullptr && !best->shares.empty()) {
        std::ranges::move(wrong_machine_sentences(advice.machine, advice.model, *best, question.detours),
                          std::back_inserter(advice.sentences));
    }
    if (is_fixed && advice.points.size() == 1) {
        advice.sentences.insert(advice.sentences.begin(), fixed_batch_sentence(*outcomes.front().record));
    }
    if (auto sentence = host_sentence(outcomes)) {
        advice.sentences.insert(advice.sentences.begin(), *std::move(sentence));
    }
    if (auto sentence = no_comparison_sentence(advice.cpu, outcomes)) {
        advice.sentences.push_back(*std::move(sentence));
    }
    if (!is_fixed) drop_sizes_without_results(question.sizes, advice);
    return advice;
}

tables::Table to_table(const Advice& advice) {
    const bool has_shares =
        std::ranges::any_of(advice.points, [](const Point& point) { return !point.shares.empty(); });
    tables::Table table{.id = "advice",
                        .title = fmt::format("{} on {}, without values", advice.model, advice.machine),
                        .columns = {"size x batch", "latency ms", "interval ms", "inf/s", "% peak"}};
    for (const char* const column : has_shares ? std::vector{"a core", "bound by", "% cycles", "x CPU"}
                                               : std::vector{"limit", "x CPU"}) {
        table.columns.emplace_back(column);
    }
    for (const Point& point : advice.points) {
        const std::string label = fmt::format("{} x {}", point.size, point.batch);
        if (!point.error.empty()) {
            tables::Cells cells(table.columns.size() - 1);
            cells[has_shares ? 5 : 4] = tables::Cell::words(point.error);
            table.add(label, std::move(cells));
            continue;
        }
        tables::Cells cells{tables::Cell::number(1e3 * point.latency_seconds, 3),
                            tables::Cell::number(1e3 * point.interval_seconds, 3),
                            tables::Cell::figure(report::amount(point.inferences_per_second, "")),
                            point.peak_share ? tables::Cell::percent(*point.peak_share) : tables::Cell()};
        if (has_shares) {
            const Share& largest = point.shares.front();
            cells.push_back(point.images_of_core > 0
                                ? tables::Cell::number(static_cast<double>(point.images_of_core), 0)
                                : tables::Cell());
            cells.push_back(tables::Cell::words(largest.name));
            cells.push_back(tables::Cell::percent(largest.share));
        } else {
            cells.push_back(tables::Cell::words(point.limit));
        }
        cells.push_back(tables::Cell::number(point.speedup, 1));
        table.add(label, std::move(cells));
    }
    return table;
}

nlohmann::ordered_json to_json(const Advice& advice) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const Point& point : advice.points) {
        nlohmann::ordered_json json{{"size_multiplier", point.size}, {"batch", point.batch}};
        if (!point.error.empty()) {
            json["error"] = point.error;
        } else {
            json["latency_ms"] = 1e3 * point.latency_seconds;
            json["interval_ms"] = 1e3 * point.interval_seconds;
            json["inferences_per_second"] = point.inferences_per_second;
            json["peak_share"] = point.peak_share ? nlohmann::ordered_json(*point.peak_share) : nullptr;
            json["limit"] = point.limit;
            json["speedup"] = point.speedup ? nlohmann::ordered_json(*point.speedup) : nullptr;
            if (!point.shares.empty()) {
                json["images_of_core"] = point.images_of_core > 0
                                             ? nlohmann::ordered_json(point.images_of_core)
                                             : nlohmann::ordered_json(nullptr);
                json["bound_by"] = point.shares.front().name;
                for (const Share& share : point.shares) json["shares"][share.name] = share.share;
                json["passes"] = point.passes;
            }
        }
        points.push_back(std::move(json));
    }
    return {{"schema", "sim.advice/1"}, {"machine", advice.machine}, {"model", advice.model},
            {"cpu", advice.cpu},        {"points", points},          {"sentences", advice.sentences}};
}

}  // namespace systole::advise
