#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/cli/context.h"

namespace systole::cli {

/// Whether CLI11 takes the word for an option; "-1" and "-" are values.
bool is_option(std::string_view word);

/// Checks the options of a command line before CLI11 parses it, for messages that propose what was meant.
/// Throws ConfigError for an option that the command does not have, one without its value, one that is given
/// twice, and for an empty word.
void check_arguments(const CLI::App& app, std::span<const std::string> arguments);

/// "sim run" for a command, "sim" for the app itself.
std::string command_text(const CLI::App& command);

}  // namespace systole::cli
