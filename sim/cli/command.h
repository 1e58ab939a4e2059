#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace systole::cli {

// Each adds its subcommand to the app; CLI11 calls what it does once the command line is read.
void add_run_command(CLI::App& app);
void add_compile_command(CLI::App& app);
void add_asm_command(CLI::App& app);
void add_disasm_command(CLI::App& app);
void add_validate_command(CLI::App& app);
void add_baseline_command(CLI::App& app);
void add_report_command(CLI::App& app);
void add_explain_command(CLI::App& app);

}  // namespace systole::cli
