#pragma once

#include "sim/cli/context.h"

namespace systole::cli {

// Each adds its subcommand to the app; CLI11 calls what it does once the command line is read. The context
// outlives the app.
void add_run_command(CLI::App& app, Context& context);
void add_compile_command(CLI::App& app, Context& context);
void add_asm_command(CLI::App& app, Context& context);
void add_disasm_command(CLI::App& app, Context& context);
void add_validate_command(CLI::App& app, Context& context);
void add_baseline_command(CLI::App& app, Context& context);
void add_report_command(CLI::App& app, Context& context);
void add_explain_command(CLI::App& app, Context& context);
void add_schema_command(CLI::App& app, Context& context);
/// With a second, hidden one: what the shells' scripts call.
void add_worker_command(CLI::App& app, Context& context);
void add_completion_command(CLI::App& app, Context& context);

}  // namespace systole::cli
