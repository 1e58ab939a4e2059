#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/context.h"

namespace systole::cli {

/// A word that is valid at the cursor.
struct Candidate {
    std::string word;
    std::string meaning = {};  ///< a few words, for shells that show them
};

struct Completion {
    /// The kind of paths that the shell adds by itself.
    enum class Paths : std::uint8_t { None, Folders, Files };

    std::vector<Candidate> candidates;
    Paths paths = Paths::None;
};

/// The completions of the last of `words`, which are the words after the program's name, up to the cursor.
/// All completions come from the app's own commands and options.
Completion complete(const CLI::App& app, const Context& context, std::span<const std::string> words);

/// The text that the completion scripts read: "none", "folders" or "files", then a line for each candidate
/// with a tab and its meaning.
std::string to_lines(const Completion& completion);

/// The commands that help shows.
std::vector<const CLI::App*> visible_commands(const CLI::App& app);

/// The command of that name; nullptr if there is none.
const CLI::App* command_of(const CLI::App& app, const std::string& name);

/// The completion script for a shell of shell_names. The script asks the program at each completion, so it
/// never becomes outdated.
std::string_view completion_script(std::string_view shell);
std::vector<std::string> shell_names();

}  // namespace systole::cli
