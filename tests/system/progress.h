#pragma once

#include <regex>
#include <string>

namespace systole::tests {

/// What a command says besides how far it is, which it tells each minute on a busy computer.
inline std::string without_progress(const std::string& err) {
    static const std::regex line(
        R"(sim: (\d+ of \d+ points|step \d+ of \d+|simulating: |[a-z ]+ for \d+ s so far)[^\n]*\n)");
    return std::regex_replace(err, line, "");
}

}  // namespace systole::tests
