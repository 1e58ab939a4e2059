// Chunks by any command.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <string_view>
#include <vector>

#include "hw/machine/config_error.h"
#include "sim/run/execute/process.h"
#include "sim/study/sweep/cluster.h"

namespace systole::sweep {
namespace {

constexpr std::string_view place = "{chunk}";

class Launcher final : public Scheduler {
public:
    Launcher(std::string command, std::size_t at_once)
        : command_(std::move(command)), at_once_(std::max<std::size_t>(at_once, 1)) {
        if (command_.find(place) == std::string::npos) {
            throw machine::ConfigError(fmt::format(
                "--launcher \"{}\": it must have {{chunk}}, for the command line of a chunk", command_));
        }
    }
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;
    ~Launcher() override { end_all(); }

    void submit(const std::filesystem::path& folder, std::size_t chunks) override {
        for (std::size_t number = 0; number < chunks; ++number) {
            std::string line = command_;
            const std::string chunk = chunk_command(folder, fmt::format("{}", number), 1);
            for (std::size_t at = line.find(place); at != std::string::npos; at = line.find(place, at)) {
                line.replace(at, place.size(), chunk);
                at += chunk.size();
            }
            waiting_.push_back(std::move(line));
        }
        start();
    }

    bool is_active() override {
        std::erase_if(running_,
                      [](pid_t process) { return ::waitpid(process, nullptr, WNOHANG) == process; });
        start();
        return !running_.empty();
    }

    void cancel() override { end_all(); }

    std::string logs(const std::filesystem::path&) const override {
        return fmt::format("what --launcher \"{}\" prints", command_);
    }

private:
    void start() {
        while (running_.size() < at_once_ && !waiting_.empty()) {
            running_.push_back(start_one(waiting_.front()));
            waiting_.pop_front();
        }
    }

    /// In a process group of its own, so that all of it can be ended.
    static pid_t start_one(const std::string& line) {
        const pid_t process = ::fork();
        if (process < 0) run::fail_with_errno("fork");
        if (process > 0) return process;
        ::setpgid(0, 0);
        sigset_t none;  // the commands are to be interrupted as usual
        ::sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
        ::_exit(127);
    }

    /// Chunks finish the points under way.
    void end_all() {
        waiting_.clear();
        for (const pid_t process : running_) ::kill(-process, SIGTERM);
        for (const pid_t process : running_) {
            while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
            }
        }
        running_.clear();
    }

    const std::string command_;
    const std::size_t at_once_;
    std::deque<std::string> waiting_;
    std::vector<pid_t> running_;
};

}  // namespace

std::unique_ptr<Scheduler> launcher(const std::string& command, std::size_t at_once) {
    return std::make_unique<Launcher>(command, at_once);
}

}  // namespace systole::sweep
