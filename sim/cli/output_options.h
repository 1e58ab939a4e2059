#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "hw/isa/program.h"
#include "sim/cli/context.h"
#include "sim/view/report/batching.h"

namespace systole::cli {

/// Options for the output of a command, with the same names and meanings in all commands.
struct OutputOptions {
    bool quiet = false;
    bool json = false;
};

/// --quiet: prints nothing on stdout. Errors still go to stderr.
CLI::Option* add_quiet_option(CLI::App& command, OutputOptions& options);
/// --json: prints `what` as JSON on stdout.
CLI::Option* add_json_option(CLI::App& command, OutputOptions& options, const std::string& what);
/// --all: in texts of large networks.
CLI::Option* add_all_option(CLI::App& command, bool& all);
/// --color: for commands that print text for people.
void add_color_option(CLI::App& command, Context& context);

/// Prints a document on stdout.
void print_json(const nlohmann::ordered_json& json);

/// Array size, amounts and layers of a program.
nlohmann::ordered_json program_json(const isa::Program& program);

/// What the compiler says of a program beside it.
struct CompilerFacts {
    std::optional<report::Batching> batching = {};                 ///< what became of the batch
    std::optional<machine::CutImages> cut_images = {};             ///< and of its images
    std::vector<compiler::PlacedOperators> placed_operators = {};  ///< which operators are mapped, or why not
};

/// Prints a summary of a program that was written to a file: a line and one for each fact, JSON, or nothing.
void print_summary(const std::string& file, const isa::Program& program, const OutputOptions& options,
                   const CompilerFacts& facts = {});

/// Prints where the operators of a network run, and why.
void print_placed_operators(const CompilerFacts& facts, const OutputOptions& options);

}  // namespace systole::cli
