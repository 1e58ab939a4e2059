#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/run/execute/executor.h"
#include "sim/run/run_config.h"
#include "sim/study/decode/answered_tokens.h"
#include "sim/view/table/table.h"

/// A decoder run as a prompt and then token by token: what each takes, by batch and by length of its caches.
namespace systole::decode {

struct Question {
    run::RunConfig config;               ///< machine and network; of one step, without its tokens
    std::vector<std::uint32_t> batches;  ///< sequences at once; at least one
    std::vector<std::uint32_t> prompts;  ///< tokens of a prompt; at least one
    std::uint32_t tokens = 1;            ///< steps of one token behind each prompt
    bool every_step = false;             ///< simulate all of them
    /// The prompts themselves: then batch and length are theirs, and all steps are computed and simulated.
    std::optional<Sequences> given = {};
};

/// What a run takes: a prompt, or a step of one token.
struct Step {
    std::uint32_t new_tokens = 1;
    std::uint32_t cached_tokens = 0;
    bool simulated = true;  ///< false: on the straight line between steps that are
    double cycles = 0.0;    ///< whole ones where simulated
    double seconds = 0.0;   ///< with the host's work
    double joules = 0.0;    ///< not a number where the machine does not say its energy
    /// Of the bandwidth of the memory that has weights and caches: high-bandwidth memory, or weight memory.
    /// Not a number on machines without either.
    double memory_share = 0.0;
    double host_share = 0.0;  ///< of the seconds in which the host's processor works
    std::string bound = {};   ///< the part of the machine with the largest lower bound
};

/// A prompt of a batch, and the steps behind it.
struct Decoding {
    std::uint32_t batch = 1;
    Step prompt;
    std::vector<Step> steps = {};     ///< one for each token, in order
    std::size_t simulated = 0;        ///< of them
    double largest_difference = 0.0;  ///< SampledSteps

    double seconds_a_token() const;    ///< mean of the steps
    double tokens_per_second() const;  ///< of all sequences of the batch, behind the prompt
    double joules_a_token() const;     ///< mean, of one sequence's token
    double memory_share() const;       ///< mean over the time of the steps
    double host_share() const;
};

struct Answer {
    std::string machine = {};
    std::string model = {};
    std::uint32_t tokens = 1;
    std::vector<Decoding> decodings = {};  ///< by batch, then by prompt
    Sequences sequences = {};              ///< the tokens behind given prompts: one more than steps
};

/// Throws UserError with the first run that fails.
Answer decode(const Question& question, run::Executor& executor);

tables::Table to_table(const Answer& answer);
nlohmann::ordered_json to_json(const Answer& answer);
/// A line for each prompt and step, with the columns batch, new_tokens, cached_tokens, seconds, cycles,
/// joules and simulated: latencies for simulators of serving.
std::string to_csv(const Answer& answer);

}  // namespace systole::decode
