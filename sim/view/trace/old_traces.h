#pragma once

#include <filesystem>

#include "sim/run/record/trace_config.h"

namespace systole::trace {

/// Removes the traces that an earlier run left in the folder, except those of kinds that `config` writes
/// itself. Only files that have the name and the beginning of a trace are removed.
void remove_old_traces(const TraceConfig& config, const std::filesystem::path& folder) noexcept;

}  // namespace systole::trace
