#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/context.h"

namespace systole::cli {

/// A word that may stand where the cursor is.
struct Candidate {
    std::string word;
    std::string meaning = {};  ///< a few words, for shells that show them
};

struct Completion {
    /// What the shell itself adds: it knows best how paths are written.
    enum class Paths : std::uint8_t { None, Folders, Files };

    std::vector<Candidate> candidates;
    Paths paths = Paths::None;
};

/// How the last of `words` may go on: what was typed behind the program's name, up to the cursor. All that is
/// offered comes from the app's own commands and options.
Completion complete(const CLI::App& app, const Context& context, std::span<const std::string> words);

/// "none", "folders" or "files", then a line for each candidate, its meaning behind a tab: what the shells'
/// scripts read.
std::string to_lines(const Completion& completion);

/// The commands that help shows.
std::vector<const CLI::App*> visible_commands(const CLI::App& app);

/// The command of that name; nullptr where there is none.
const CLI::App* command_of(const CLI::App& app, const std::string& name);

/// What a shell is to read; it asks the program each time, so that it goes on fitting it. Shells that there
/// are: shell_names.
std::string_view completion_script(std::string_view shell);
std::vector<std::string> shell_names();

}  // namespace systole::cli
