#pragma once

#include <string_view>

#include "sim/view/terminal/look.h"

/// The program's messages on stderr: one line each, even if a name in them has line breaks.
namespace systole::cli {

/// "sim: MESSAGE".
void print_error(const terminal::Look& look, std::string_view message);
/// "sim: warning: MESSAGE". The command goes on.
void print_warning(const terminal::Look& look, std::string_view message);

}  // namespace systole::cli
