#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/files.h"
#include "tests/support/source_dir.h"
#include "tests/system/paths.h"

namespace systole::tests {

inline const std::filesystem::path project = source_dir();

/// Files of others that the project does not ship; the folder may be absent.
inline const std::filesystem::path foreign_data = project.parent_path() / "shared/data";

/// The text that `sim` itself wrote to stderr. AddressSanitizer adds three lines if an exception ends a
/// process of the SystemC kernel, because it does not know the stacks of these processes.
inline std::string own_messages(const std::string& text) {
#ifdef __SANITIZE_ADDRESS__
    std::istringstream lines(text);
    std::string own;
    for (std::string line; std::getline(lines, line);) {
        const bool from_sanitizer =
            line.find("ASan is ignoring requested __asan_handle_no_return") != std::string::npos ||
            line == "False positive error reports may follow" ||
            line.starts_with("For details see https://github.com/google/sanitizers/");
        if (!from_sanitizer) own += line + '\n';
    }
    return own;
#else
    return text;
#endif
}

struct Outcome {
    int exit_code = -1;
    std::string out;
    std::string err;

    nlohmann::ordered_json json() const { return nlohmann::ordered_json::parse(out); }
};

/// The words of a text with one space between them: where a line ends depends on the widths of numbers.
inline std::string in_one_line(const std::string& text) {
    std::istringstream words(text);
    std::string line;
    for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
    return line;
}

/// A script for bash, in a folder, that finds `sim` by its name; `programs` is the folder of `sim`. Only the
/// script itself gives folders of the user.
inline Outcome bash(
    const std::string& script, const std::filesystem::path& where,
    const std::filesystem::path& programs = std::filesystem::path(sim_program()).parent_path()) {
    const Folder folder;
    const std::string file = folder.file("script", script);
    const std::string out = (folder / "out").string();
    const std::string err = (folder / "err").string();
    const std::string command = "cd '" + where.string() + "' && SYSTOLE_PATH= XDG_CONFIG_HOME='" +
                                (folder / "none").string() + "' PATH='" + programs.string() +
                                "':\"$PATH\" bash " + file + " >" + out + " 2>" + err + " </dev/null";
    const int status = std::system(command.c_str());
    REQUIRE(WIFEXITED(status));
    return {WEXITSTATUS(status), text_in(out), own_messages(text_in(err))};
}

/// The program `sim` as users start it: in the project's folder, with arguments for the shell.
inline Outcome sim(const std::string& arguments) {
    return bash("exec sim " + arguments, project);
}

/// The report of a run that must succeed.
inline nlohmann::ordered_json report_of(const std::string& arguments) {
    const Outcome outcome = sim("run " + arguments + " --json");
    INFO(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return outcome.json();
}

}  // namespace systole::tests
