#pragma once

#include "sim/cli/context.h"

/// The command line: commands, options and messages.
namespace systole::cli {

// Each function adds its subcommand to the app; CLI11 runs the subcommand after it has parsed the command
// line. The context must outlive the app.
void add_run_command(CLI::App& app, Context& context);
void add_compile_command(CLI::App& app, Context& context);
void add_asm_command(CLI::App& app, Context& context);
void add_disasm_command(CLI::App& app, Context& context);
void add_validate_command(CLI::App& app, Context& context);
void add_baseline_command(CLI::App& app, Context& context);
void add_report_command(CLI::App& app, Context& context);
void add_advise_command(CLI::App& app, Context& context);
void add_decode_command(CLI::App& app, Context& context);
/// A hidden command.
void add_chunk_command(CLI::App& app, Context& context);
void add_sweep_command(CLI::App& app, Context& context);
void add_train_command(CLI::App& app, Context& context);
void add_explain_command(CLI::App& app, Context& context);
void add_schema_command(CLI::App& app, Context& context);
/// Also adds the hidden command `complete-words`, which the completion scripts call.
void add_worker_command(CLI::App& app, Context& context);
void add_completion_command(CLI::App& app, Context& context);

}  // namespace systole::cli
