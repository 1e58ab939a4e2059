#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/cli/command.h"
#include "sim/cli/completion.h"

namespace systole::cli {

void add_completion_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("completion", "Print the completion script for a shell");
    const auto shell = std::make_shared<std::string>();
    CLI::Option* option =
        command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->type_name("");
    context.only(option, shell_names());
    command->footer(
        "Examples:\n"
        "  source <(sim completion bash)\n"
        "  sim completion bash > sim.bash\n\n"
        "The first in ~/.bashrc (or with zsh in ~/.zshrc, after compinit) completes\n"
        "commands, options, files, keys and names in configs/ in every new shell;\n"
        "fish: sim completion fish > ~/.config/fish/completions/sim.fish");
    command->callback([shell] { fmt::print("{}", completion_script(*shell)); });

    CLI::App* words_command = app.add_subcommand(
        "complete-words", "Print the completions of a command line, for completion scripts");
    words_command->group("");  // not for people: help does not show it
    const auto words = std::make_shared<std::vector<std::string>>();
    words_command->add_option("WORDS", *words, "typed behind sim, up to the cursor");
    words_command->callback(
        [words, &app, &context] { fmt::print("{}", to_lines(complete(app, context, *words))); });
}

}  // namespace systole::cli
