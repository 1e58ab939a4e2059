#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/sim_process.h"

/// Pages that show commands and their output.
namespace systole::tests {

struct Command {
    std::string arguments;  ///< behind "sim"
    std::string output;
};

/// The commands of the page: in blocks of ```console, from "$ sim" to the line that does not end in a
/// backslash, with the lines below up to the next command or the block's end as their output.
inline std::vector<Command> commands_of(const std::filesystem::path& page) {
    std::vector<Command> commands;
    std::istringstream lines(text_in(page));
    bool in_block = false;
    bool goes_on = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == "```console") {
            in_block = true;
        } else if (line.starts_with("```")) {
            in_block = false;
        } else if (in_block && (goes_on || line.starts_with("$ sim "))) {
            if (!goes_on) commands.push_back({});
            std::string& arguments = commands.back().arguments;
            arguments += line.substr(goes_on ? 0 : std::string("$ sim ").size());
            goes_on = arguments.ends_with('\\');
            if (goes_on) arguments.pop_back();
        } else if (in_block) {
            REQUIRE_FALSE(commands.empty());
            commands.back().output += line + '\n';
        }
    }
    return commands;
}

}  // namespace systole::tests
