#include "sim/study/decode/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "base/user_error.h"
#include "sim/study/decode/sampled_steps.h"
#include "sim/view/report/report.h"

namespace systole::decode {
namespace {

using report::Json;

/// Lengths at which a step's tiles of the array become more.
std::vector<std::size_t> breaks_of(std::uint32_t prompt_tokens, std::uint32_t steps,
                                   std::uint32_t array_rows) {
    std::vector<std::size_t> breaks;
    for (std::uint32_t step = 1; step < steps; ++step) {
        const std::uint32_t before = prompt_tokens + step;  // tokens that the step before it had
        if (array_rows > 0 && before % array_rows == 0) breaks.push_back(step);
    }
    return breaks;
}

/// Steps are taken to be on a straight line where a middle is within this share of it: small beside the
/// model's own errors against published machines, which are some per cent (docs/validations.md).
constexpr double line_tolerance = 0.002;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double number_at(const Json& object, const char* key) {
    if (!object.is_object()) return unknown;
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : unknown;
}

std::string largest_bound(const Json& bounds) {
    std::string name;
    double largest = -1.0;
    for (const auto& [key, value] : bounds.items()) {
        if (key == "macs" || key == "ratio" || key == "fill" || !value.is_number()) continue;
        if (value.get<double>() <= largest) continue;
        largest = value.get<double>();
        name = key;
    }
    return name;
}

Step step_of(const run::RunRecord& record) {
    const Json report = report::make_report(record, {});
    const Json& traffic = report["traffic"];
    Step step{.cycles = static_cast<double>(record.cycles),
              .seconds = number_at(report, "seconds"),
              .joules = number_at(report["energy"], "joules"),
              .memory_share =
                  number_at(traffic, "hbm_read_utilization") + number_at(traffic, "hbm_write_utilization"),
              .bound = largest_bound(report["bounds"])};
    if (!traffic.contains("hbm_read_utilization"))
        step.memory_share = number_at(traffic, "weight_utilization");
    // Without work of the host there is no number.
    if (report.contains("host_seconds") && report["host_seconds"].is_number() && step.seconds > 0.0)
        step.host_share = report["host_seconds"].get<double>() / step.seconds;
    return step;
}

/// The numbers of a step that lie on straight lines between two others.
Figures figures_of(const Step& step) {
    return {step.cycles, step.seconds, step.joules, step.memory_share * step.seconds,
            step.host_share * step.seconds};
}

Step step_on_line(const Figures& figures) {
    Step step{.simulated = false, .cycles = figures[0], .seconds = figures[1], .joules = figures[2]};
    if (step.seconds > 0.0) {
        step.memory_share = figures[3] / step.seconds;
        step.host_share = figures[4] / step.seconds;
    }
    return step;
}

class Runs {
public:
    Runs(const Question& question, run::Executor& executor) : question_(question), executor_(executor) {}

    std::vector<run::RunRecord> run(std::uint32_t batch, const std::vector<run::DecoderStep>& steps) {
        std::vector<run::RunSpec> specs;
        for (const run::DecoderStep& step : steps) {
            run::RunConfig config = question_.config;
            config.batch = batch;
            config.limit = batch;
            config.new_tokens = step.new_tokens;
            config.cached_tokens = step.cached_tokens;
            config.timing_only = true;
            config.input.clear();
            specs.push_back(run::make_spec(config));
        }
        std::vector<run::RunRecord> records;
        for (run::RunOutcome& outcome : executor_.run(specs)) {
            if (!outcome.record) throw UserError(outcome.error);
            records.push_back(std::move(*outcome.record));
        }
        return records;
    }

private:
    const Question& question_;
    run::Executor& executor_;
};

Decoding decode_behind(std::uint32_t batch, const run::RunRecord& prompt, std::uint32_t prompt_tokens,
                       const Question& question, Runs& runs) {
    Decoding decoding{.batch = batch, .prompt = step_of(prompt)};
    decoding.prompt.new_tokens = prompt_tokens;
    std::vector<std::string> bounds(question.tokens);
    const auto cached = [&](std::size_t step) { return prompt_tokens + static_cast<std::uint32_t>(step); };
    const std::uint32_t array_rows = prompt.spec.machine.matrix_unit.rows;
    const Lines lines{.count = question.tokens,
                      .breaks = breaks_of(prompt_tokens, question.tokens, array_rows),
                      .tolerance = question.every_step ? -1.0 : line_tolerance};
    const SampledSteps sampled = sample_steps(lines, [&](std::span<const std::size_t> numbers) {
        std::vector<run::DecoderStep> steps;
        for (const std::size_t number : numbers)
            steps.push_back({.new_tokens = 1, .cached_tokens = cached(number)});
        std::vector<Figures> figures;
        const std::vector<run::RunRecord> records = runs.run(batch, steps);
        for (std::size_t i = 0; i < records.size(); ++i) {
            const Step step = step_of(records[i]);
            bounds[numbers[i]] = step.bound;
            figures.push_back(figures_of(step));
        }
        return figures;
    });
    std::string bound;
    for (std::size_t i = 0; i < sampled.steps.size(); ++i) {
        Step step = step_on_line(sampled.steps[i]);
        step.simulated = sampled.simulated[i];
        step.cached_tokens = cached(i);
        if (step.simulated) bound = bounds[i];
        step.bound = bound;
        decoding.simulated += step.simulated ? 1 : 0;
        decoding.steps.push_back(std::move(step));
    }
    decoding.largest_difference = sampled.largest_difference;
    return decoding;
}

/// The prompts that are given, with values.
Answer decode_given(const Question& question, run::Executor& executor) {
    Answer answer{.tokens = question.tokens};
    Decoding decoding{.batch = static_cast<std::uint32_t>(question.given->size()), .prompt = {}};
    const auto prompt_tokens = static_cast<std::uint32_t>(question.given->front().size());
    std::size_t runs = 0;
    const auto note = [&](const run::RunRecord& record) {
        if (runs++ == 0) {
            answer.machine = record.spec.machine.name;
            answer.model = record.program.model;
            decoding.prompt = step_of(record);
            decoding.prompt.new_tokens = prompt_tokens;
            return;
        }
        decoding.steps.push_back(step_of(record));
        decoding.steps.back().cached_tokens =
            prompt_tokens + static_cast<std::uint32_t>(decoding.steps.size()) - 1;
    };
    answer.sequences = answer_tokens(question.config, *question.given, question.tokens, executor, note);
    decoding.simulated = decoding.steps.size();
    answer.decodings.push_back(std::move(decoding));
    return answer;
}

double sum_of(const std::vector<Step>& steps, double Step::*figure) {
    double sum = 0.0;
    for (const Step& step : steps) sum += step.*figure;
    return sum;
}

double mean_over_time(const std::vector<Step>& steps, double Step::*share) {
    double sum = 0.0;
    for (const Step& step : steps) sum += step.*share * step.seconds;
    return sum / sum_of(steps, &Step::seconds);
}

}  // namespace

double Decoding::seconds_a_token() const {
    return sum_of(steps, &Step::seconds) / static_cast<double>(steps.size());
}

double Decoding::tokens_per_second() const {
    return batch / seconds_a_token();
}

double Decoding::joules_a_token() const {
    return sum_of(steps, &Step::joules) / static_cast<double>(steps.size()) / batch;
}

double Decoding::memory_share() const {
    return mean_over_time(steps, &Step::memory_share);
}

double Decoding::host_share() const {
    return mean_over_time(steps, &Step::host_share);
}

Answer decode(const Question& question, run::Executor& executor) {
    if (question.given) return decode_given(question, executor);
    Runs runs(question, executor);
    Answer answer{.tokens = question.tokens};
    for (const std::uint32_t batch : question.batches) {
        std::vector<run::DecoderStep> prompts;
        for (const std::uint32_t tokens : question.prompts)
            prompts.push_back({.new_tokens = tokens, .cached_tokens = 0});
        const std::vector<run::RunRecord> records = runs.run(batch, prompts);
        for (std::size_t i = 0; i < records.size(); ++i) {
            answer.machine = records[i].spec.machine.name;
            answer.model = records[i].program.model;
            answer.decodings.push_back(decode_behind(batch, records[i], question.prompts[i], question, runs));
        }
    }
    return answer;
}

}  // namespace systole::decode
