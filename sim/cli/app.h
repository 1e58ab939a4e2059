#pragma once

namespace systole::cli {

/// Executes a command line. Returns the exit code: 0 for success, 1 for a study with points that failed or
/// are not finished, 2 for an error that the user can correct, 70 for a bug. Both errors are one line on
/// stderr.
int run_app(int argc, const char* const* argv);

}  // namespace systole::cli
