#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/system/paths.h"
#include "tests/system/sim_process.h"

namespace systole::tests {

/// Installs a component of this build (cmake/Install.cmake) into a fresh prefix in the folder, and returns
/// the prefix.
inline std::filesystem::path install(const std::string& component, const Folder& folder) {
    const std::filesystem::path prefix = folder / "prefix";
    const Outcome outcome = bash("exec cmake --install '" + std::string(build_dir()) + "' --prefix '" +
                                     prefix.string() + "' --component " + component,
                                 folder.path());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return prefix;
}

}  // namespace systole::tests
