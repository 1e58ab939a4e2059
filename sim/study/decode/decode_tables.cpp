#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sim/study/decode/decode.h"

namespace systole::decode {
namespace {

using tables::Cell;

nlohmann::ordered_json to_json(const Step& step) {
    return {{"new_tokens", step.new_tokens},
            {"cached_tokens", step.cached_tokens},
            {"simulated", step.simulated},
            {"cycles", step.cycles},
            {"seconds", step.seconds},
            {"joules", step.joules},
            {"memory_share", step.memory_share},
            {"host_share", step.host_share},
            {"bound", step.bound}};
}

/// Four digits, but no exponent of ten.
std::string in_full(double number) {
    constexpr double most = 1000.0;
    return number < most ? fmt::format("{:.4g}", number) : fmt::format("{:.0f}", number);
}

/// Nothing for what the machine does not say.
Cell joules_cell(double millijoules) {
    return std::isnan(millijoules) ? Cell() : Cell::figure(fmt::format("{:.3g}", millijoules));
}
Cell share_cell(double share) {
    return std::isnan(share) ? Cell() : Cell::percent(share);
}

std::string words_of(std::string bound) {
    std::ranges::replace(bound, '_', ' ');
    return bound;
}

}  // namespace

tables::Table to_table(const Answer& answer) {
    tables::Table table{.id = "decoding",
                        .title = fmt::format("{} on {}: prompts, and {} tokens behind each", answer.model,
                                             answer.machine, answer.tokens),
                        .columns = {"batch", "prompt", "first token ms", "token ms", "first to last",
                                    "tokens/s", "mJ/token", "memory %", "host %", "bound by"}};
    std::size_t simulated = 0;
    std::size_t steps = 0;
    double difference = 0.0;
    for (const Decoding& decoding : answer.decodings) {
        constexpr double to_milli = 1e3;
        simulated += decoding.simulated;
        steps += decoding.steps.size();
        difference = std::max(difference, decoding.largest_difference);
        table.add(std::to_string(decoding.batch),
                  {Cell::number(decoding.prompt.new_tokens, 0),
                   Cell::figure(in_full(decoding.prompt.seconds * to_milli)),
                   Cell::figure(in_full(decoding.seconds_a_token() * to_milli)),
                   Cell::figure(fmt::format("{:.4g}-{:.4g}", decoding.steps.front().seconds * to_milli,
                                            decoding.steps.back().seconds * to_milli)),
                   Cell::figure(in_full(decoding.tokens_per_second())),
                   joules_cell(decoding.joules_a_token() * to_milli), share_cell(decoding.memory_share()),
                   share_cell(decoding.host_share()), Cell::words(words_of(decoding.steps.back().bound))});
    }
    table.notes.emplace_back(
        "first token: the prompt goes through the network at once; token: the mean of the steps behind it, "
        "each one token behind caches that grow; memory: share of the bandwidth of the memory that has "
        "weights and caches; host: share of the time in which the host's processor works.");
    if (simulated < steps) {
        table.notes.push_back(fmt::format(
            "{} of {} steps were simulated. The others lie on straight lines between these, which the "
            "simulated middles miss by at most {:.2f} %: others may miss more. --every-step simulates all.",
            simulated, steps, 100.0 * difference));
    }
    return table;
}

nlohmann::ordered_json to_json(const Answer& answer) {
    nlohmann::ordered_json json{{"schema", "sim.decoding/1"},
                                {"machine", answer.machine},
                                {"model", answer.model},
                                {"tokens", answer.tokens}};
    json["decodings"] = nlohmann::ordered_json::array();
    for (const Decoding& decoding : answer.decodings) {
        nlohmann::ordered_json& each = json["decodings"].emplace_back();
        each = {{"batch", decoding.batch},
                {"prompt_tokens", decoding.prompt.new_tokens},
                {"seconds_to_first_token", decoding.prompt.seconds},
                {"seconds_a_token", decoding.seconds_a_token()},
                {"tokens_per_second", decoding.tokens_per_second()},
                {"joules_a_token", decoding.joules_a_token()},
                {"memory_share", decoding.memory_share()},
                {"host_share", decoding.host_share()},
                {"simulated_steps", decoding.simulated},
                {"largest_difference", decoding.largest_difference},
                {"prompt", to_json(decoding.prompt)}};
        each["steps"] = nlohmann::ordered_json::array();
        for (const Step& step : decoding.steps) each["steps"].push_back(to_json(step));
    }
    if (!answer.sequences.empty()) json["sequences"] = answer.sequences;
    return json;
}

std::string to_csv(const Answer& answer) {
    std::string text = "batch,new_tokens,cached_tokens,seconds,cycles,joules,simulated\n";
    const auto add = [&](std::uint32_t batch, const Step& step) {
        text += fmt::format(
            "{},{},{},{},{},{},{}\n", batch, step.new_tokens, step.cached_tokens, step.seconds, step.cycles,
            std::isnan(step.joules) ? "" : fmt::format("{}", step.joules), step.simulated ? 1 : 0);
    };
    for (const Decoding& decoding : answer.decodings) {
        add(decoding.batch, decoding.prompt);
        for (const Step& step : decoding.steps) add(decoding.batch, step);
    }
    return text;
}

}  // namespace systole::decode
