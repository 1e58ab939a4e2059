#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/system/paths.h"
#include "tests/system/sim_process.h"

namespace systole::tests {

/// A started `sim`, in the project's folder, that writes to files of a folder. Its temporary files are there
/// too: a process that is killed leaves them.
class Started {
public:
    Started(const std::string& arguments, const Folder& folder) {
        const std::filesystem::path temporary = folder / "temporary";
        std::filesystem::create_directories(temporary);
        const std::string script = "export TMPDIR='" + temporary.string() + "' && cd '" + project.string() +
                                   "' && exec " + std::string(sim_program()) + " " + arguments + " >" +
                                   (folder / "out").string() + " 2>" + (folder / "err").string() +
                                   " </dev/null";
        process_ = ::fork();
        REQUIRE(process_ >= 0);
        if (process_ == 0) {
            ::execl("/bin/bash", "bash", "-c", script.c_str(), nullptr);
            ::_exit(127);
        }
    }
    ~Started() {
        if (process_ > 0) wait();
    }
    Started(const Started&) = delete;
    Started& operator=(const Started&) = delete;

    pid_t process() const { return process_; }
    bool has_ended() {
        int status = 0;
        if (process_ > 0 && ::waitpid(process_, &status, WNOHANG) == process_) process_ = -1;
        return process_ < 0;
    }
    /// The exit code; absent if a signal ended it.
    std::optional<int> wait() {
        int status = 0;
        ::waitpid(process_, &status, 0);
        process_ = -1;
        return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
    }

private:
    pid_t process_ = -1;
};

/// The children of a process, their children, and so on.
inline std::vector<pid_t> descendants(pid_t process) {
    std::vector<pid_t> all;
    const std::string task =
        "/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children";
    std::istringstream children(text_in(task));
    for (pid_t child = 0; children >> child;) {
        all.push_back(child);
        for (const pid_t further : descendants(child)) all.push_back(further);
    }
    return all;
}

}  // namespace systole::tests
