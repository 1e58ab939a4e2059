#pragma once

#include <functional>
#include <optional>
#include <string>

namespace systole::frontend {

/// Runs `work` in a copy of this process and returns its text, of at most some kilobytes. Nothing where
/// the copy crashes or takes more than `cpu_seconds` of processor time. An exception gives an empty text:
/// the caller, doing the same work, runs into it again.
std::optional<std::string> run_in_child(const std::function<std::string()>& work, unsigned cpu_seconds);

}  // namespace systole::frontend
