#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "hw/isa/program.h"
#include "sim/cli/output_options.h"

namespace systole::cli {

/// Array size, amounts and layers of a program.
nlohmann::ordered_json program_json(const isa::Program& program);

/// Prints a summary of a program that was written to a file: a line, JSON, or nothing.
void print_summary(const std::string& file, const isa::Program& program, const OutputOptions& options);

}  // namespace systole::cli
