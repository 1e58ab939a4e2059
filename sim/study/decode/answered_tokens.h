#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/run/execute/executor.h"
#include "sim/run/record/record.h"
#include "sim/run/run_config.h"

/// What a decoder answers to prompts: each step with values, on what the one before it has left.
namespace systole::decode {

/// Tokens by sequence.
using Sequences = std::vector<std::vector<std::uint32_t>>;

/// The prompts in an array file of whole numbers, [sequences][tokens], or [tokens] of a single one. Throws
/// UserError.
Sequences read_prompts(const std::string& file);

/// The tokens behind each prompt, one more than steps: the token with the largest logit, step by step.
/// `config` names machine and network; `note` gets the record of the prompt, and then that of each step. Of
/// the network's inputs that are no caches, one with "mask" in its name is 1 for all tokens, one with
/// "position" counts them from 0, one with "type" is 0, and the one that is left takes the tokens. Its first
/// output that is no cache has the logits. Throws UserError.
Sequences answer_tokens(const run::RunConfig& config, const Sequences& prompts, std::uint32_t steps,
                        run::Executor& executor, const std::function<void(const run::RunRecord&)>& note);

}  // namespace systole::decode
