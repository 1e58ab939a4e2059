#pragma once

/// The command line: what users type, and what they are told.
namespace systole::cli {

/// Carries out a command line. Returns the exit code: 0, 2 where the user can mend what is wrong (one line
/// on stderr), 70 where it is a bug.
int run_app(int argc, const char* const* argv);

}  // namespace systole::cli
