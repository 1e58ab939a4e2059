#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/cli/run_options.h"
#include "sim/cli/sign_of_life.h"
#include "sim/run/execute/executor.h"
#include "sim/study/decode/decode.h"
#include "sim/view/table/table.h"

namespace systole::cli {
namespace {

struct DecodeCommand {
    RunOptions options;
    OutputOptions print;
    std::vector<std::uint32_t> prompts{128};
    std::uint32_t tokens = 64;
    std::vector<std::uint32_t> batches;
    bool are_lengths_given = false;
    bool every_step = false;
    std::string csv;
    const terminal::Screen* screen = nullptr;

    void operator()() const {
        decode::Question question{.config = options.config(),
                                  .batches = batches,
                                  .prompts = prompts,
                                  .tokens = tokens,
                                  .every_step = every_step};
        if (question.batches.empty()) question.batches = {std::max(question.config.batch, 1U)};
        check_options();
        // Prompts on the command line are computed also with a run file that is timed only.
        const bool is_timed = options.timing_only || (options.input.empty() && question.config.timing_only);
        if (!question.config.input.empty() && !is_timed) {
            question.config.timing_only = false;
            question.given = decode::read_prompts(prompts_file(question.config));
        }
        std::optional<SignOfLife> sign(std::in_place, SignOfLife::decoding);
        run::Executor executor;
        const decode::Answer answer = decode::decode(question, executor);
        sign.reset();
        if (!csv.empty()) {
            WholeFile file(csv);
            file.write(decode::to_csv(answer));
            file.commit();
        }
        if (print.json) return print_json(decode::to_json(answer));
        print_text(screen->out(), "{}", tables::to_text(decode::to_table(answer), screen->out()));
        for (std::size_t i = 0; i < answer.sequences.size(); ++i) {
            print_text({}, "{}Tokens of sequence {}: {}\n", i == 0 ? "\n" : "", i,
                       fmt::join(answer.sequences[i], " "));
        }
        if (!csv.empty()) print_text({}, "\nLatencies in {}\n", csv);
    }

private:
    /// Throws ConfigError for what follows from prompts and tokens.
    void check_options() const {
        const auto refuse = [](std::string_view option, const std::string& value) {
            if (value.empty()) return;
            throw machine::ConfigError(fmt::format(
                "{} {} is given; a decoding has --prompt-length, --tokens and --batches", option, value));
        };
        refuse("--new-tokens", options.new_tokens);
        refuse("--cached-tokens", options.cached_tokens);
        refuse("--limit", options.limit);
        refuse("--random-input", options.random_input);
        for (const std::uint32_t prompt : prompts) {
            constexpr std::uint64_t most = std::uint64_t{1} << 24U;
            if (std::uint64_t{prompt} + tokens <= most) continue;
            throw machine::ConfigError(
                fmt::format("a prompt of {} with {} tokens has more than {}", prompt, tokens, most));
        }
    }

    /// The file of prompts; its batch and length are those of the run.
    std::string prompts_file(const run::RunConfig& config) const {
        if (config.input.size() != 1) {
            throw machine::ConfigError(fmt::format(
                "input is {} files; prompts are in one, an array of tokens", config.input.size()));
        }
        if (!batches.empty() || are_lengths_given) {
            throw machine::ConfigError(fmt::format(
                "--batches and --prompt-length do not go with --input: {} says both", config.input.front()));
        }
        return config.input.front();
    }
};

}  // namespace

void add_decode_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("decode", "Run a decoder: prompts, and tokens behind them");
    const auto decode = std::make_shared<DecodeCommand>();
    decode->screen = &context.screen;
    add_model_options(*command, context, decode->options,
                      "run file, whose keys options override; or an ONNX file of a decoder");
    const auto numbers = [&](const char* name, std::vector<std::uint32_t>& values, const char* meaning) {
        command->add_option(name, values, meaning)
            ->type_name("N,...")
            ->delimiter(',')
            ->allow_extra_args(false)
            ->check(CLI::PositiveNumber);
    };
    numbers("--prompt-length", decode->prompts, "tokens of a prompt (128)");
    command->add_option("--tokens", decode->tokens, "steps of one token behind each prompt (64)")
        ->type_name("N")
        ->check(CLI::Range(1U, 1'000'000U));
    CLI::Option* const lengths = command->get_option("--prompt-length");
    numbers("--batches", decode->batches, "sequences at once (that of --batch)");
    command->add_flag("--every-step", decode->every_step,
                      "simulate each step, also where those beside it lie on a straight line");
    command->add_option("--csv", decode->csv, "latencies of all prompts and steps")->type_name("FILE");
    add_json_option(*command, decode->print, "the decoding");
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim decode small_decoder --prompt-length 32,128 --tokens 64 --batches 1,8\n"
        "  sim decode small_decoder --machine tpu_v2_8 --batches 8,64 --csv latencies.csv\n\n"
        "With --input FILE, an array of tokens, each step is computed, and gives the token with\n"
        "the largest logit. Without it, steps are timed without values. docs/decoding.md says what\n"
        "a decoder's file must have.");
    command->callback([decode, lengths] {
        decode->are_lengths_given = lengths->count() > 0;
        (*decode)();
    });
}

}  // namespace systole::cli
