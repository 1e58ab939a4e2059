// Chunks by any command.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <list>
#include <optional>
#include <string_view>
#include <utility>

#include "base/interruption.h"
#include "hw/machine/config_error.h"
#include "sim/run/execute/process.h"
#include "sim/study/sweep/cluster.h"

namespace systole::sweep {
namespace {

constexpr std::string_view place = "{chunk}";

class Launcher final : public Scheduler {
public:
    Launcher(std::string command, std::size_t at_once, std::size_t workers)
        : command_(std::move(command)), at_once_(std::max<std::size_t>(at_once, 1)), workers_(workers) {
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
            const std::string chunk = chunk_command(folder, fmt::format("{}", number), workers_);
            for (std::size_t at = line.find(place); at != std::string::npos; at = line.find(place, at)) {
                line.replace(at, place.size(), chunk);
                at += chunk.size();
            }
            waiting_.push_back(std::move(line));
        }
        start();
    }

    bool is_active() override {
        running_.remove_if([](const Command& command) { return command.has_ended(); });
        start();
        return !running_.empty();
    }

    void cancel() override { end_all(); }

    std::string logs(const std::filesystem::path&) const override {
        return fmt::format("what --launcher \"{}\" prints", command_);
    }

private:
    /// A command in a process group of its own, so that all of it can be ended; a second Ctrl-C does that.
    class Command {
    public:
        explicit Command(const std::string& line) : process_(start_one(line)) {
            killed_.emplace([process = process_] { ::kill(-process, SIGKILL); });
        }
        bool has_ended() const { return ::waitpid(process_, nullptr, WNOHANG) == process_; }
        void ask_to_end() const { ::kill(-process_, SIGTERM); }
        void wait() const {
            while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
            }
        }

    private:
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

        const pid_t process_;
        std::optional<UndoneOnInterruption> killed_;
    };

    void start() {
        while (running_.size() < at_once_ && !waiting_.empty()) {
            running_.emplace_back(waiting_.front());
            waiting_.pop_front();
        }
    }

    /// Chunks finish the points under way.
    void end_all() {
        waiting_.clear();
        for (const Command& command : running_) command.ask_to_end();
        for (const Command& command : running_) command.wait();
        running_.clear();
    }

    const std::string command_;
    const std::size_t at_once_;
    const std::size_t workers_;
    std::deque<std::string> waiting_;
    std::list<Command> running_;
};

}  // namespace

std::unique_ptr<Scheduler> launcher(const std::string& command, std::size_t at_once, std::size_t workers) {
    return std::make_unique<Launcher>(command, at_once, workers);
}

}  // namespace systole::sweep
