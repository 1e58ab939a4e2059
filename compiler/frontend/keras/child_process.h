#pragma once

#include <functional>
#include <optional>
#include <string>

namespace systole::frontend {

/// Runs `work` in a forked copy of this process and returns its text, of at most some kilobytes. Returns
/// nullopt if the copy crashes or takes more than `cpu_seconds` of processor time. If `work` throws, the text
/// is empty; the caller will get the same exception when it does the work itself.
std::optional<std::string> run_in_child(const std::function<std::string()>& work, unsigned cpu_seconds);

}  // namespace systole::frontend
