#pragma once

#include <filesystem>
#include <string_view>

#include "compiler/frontend/hlo/module.h"

namespace systole::hlo {

/// Reads a file that holds a serialized HloModuleProto. Throws ModelError, in one line that begins with the
/// path.
Module read_module(const std::filesystem::path& path);

/// Reads a module from its bytes. Throws ModelError in one line.
Module parse_module(std::string_view bytes);

}  // namespace systole::hlo
