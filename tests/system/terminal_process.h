#pragma once

#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <regex>
#include <string>

#include "tests/system/paths.h"
#include "tests/system/sim_process.h"

namespace systole::tests {

/// Stdout and stderr of `sim`, started in a terminal in the project's folder.
struct Seen {
    int exit_code = -1;
    std::string text;  ///< lines end in "\n"; without what `sim` has erased
    std::string sent;  ///< all of it

    /// The text without colour codes.
    std::string without_colours() const {
        return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*[mK]|\r"), "");
    }
};

/// The text that stays: a line of progress is written behind "\r\x1b[K", which also erases it.
inline std::string without_erased(const std::string& text) {
    const std::string kept = std::regex_replace(text, std::regex("\r\x1b\\[K[^\r\n]*(?=\r\x1b\\[K)"), "");
    return std::regex_replace(kept, std::regex("\r\x1b\\[K"), "");
}

/// `environment` comes before the command: "NO_COLOR=1".
inline Seen sim_on_terminal(const std::string& arguments, unsigned short columns,
                            const std::string& environment = "") {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = columns;
    int terminal = -1;
    const std::string script = "cd '" + project.string() +
                               "' && exec env -u NO_COLOR -u COLUMNS TERM=xterm-256color " + environment +
                               " '" + sim_program() + "' " + arguments;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    REQUIRE(child >= 0);
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", script.c_str(), static_cast<char*>(nullptr));
        _exit(127);
    }
    Seen seen;
    std::array<char, 4096> buffer{};
    // Reading from a terminal whose process has ended is an error.
    for (ssize_t got = 0; (got = read(terminal, buffer.data(), buffer.size())) > 0;) {
        seen.text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    close(terminal);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    seen.exit_code = WEXITSTATUS(status);
    seen.sent = std::regex_replace(seen.text, std::regex("\r\n"), "\n");
    seen.text = own_messages(without_erased(seen.sent));
    return seen;
}

}  // namespace systole::tests
