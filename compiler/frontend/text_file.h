#pragma once

#include <filesystem>
#include <string>

namespace systole::frontend {

/// All of a file. Throws ModelError, in one line that begins with the path.
std::string read_text(const std::filesystem::path& path);

}  // namespace systole::frontend
