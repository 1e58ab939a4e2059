#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/cli/context.h"

namespace systole::cli {

/// What a command prints, and how: the same options, in the same words, wherever there is a choice.
struct OutputOptions {
    bool quiet = false;
    bool json = false;
};

/// --quiet: nothing on stdout. Errors go to stderr as ever.
CLI::Option* add_quiet_option(CLI::App& command, OutputOptions& options);
/// --json: `what`, as JSON on stdout.
CLI::Option* add_json_option(CLI::App& command, OutputOptions& options, const std::string& what);
/// --color: for commands that print text for people.
void add_color_option(CLI::App& command, Context& context);

/// A document on stdout.
void print_json(const nlohmann::ordered_json& json);

}  // namespace systole::cli
