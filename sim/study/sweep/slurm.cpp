// Chunks as the tasks of a Slurm job array.
#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "sim/study/sweep/cluster.h"
#include "sim/study/sweep/command_line.h"

namespace systole::sweep {
namespace {

struct CommandResult {
    int code = -1;
    std::string output;  ///< of stdout
};

CommandResult run_command(const std::string& line) {
    CommandResult result;
    FILE* const pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) return result;
    std::array<char, 4096> piece{};
    while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), pipe)) {
        result.output.append(piece.data(), size);
    }
    const int status = ::pclose(pipe);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

class Slurm final : public Scheduler {
public:
    explicit Slurm(SlurmOptions options) : options_(std::move(options)) {}

    void submit(const std::filesystem::path& folder, std::size_t chunks) override {
        set_folder(folder);
        const std::filesystem::path script = folder_ / "job.sh";
        write_file(script, script_of(folder_, chunks));
        const CommandResult sbatch = said_in_log("sbatch --parsable " + shell_word(script.string()));
        job_ = sbatch.output.substr(0, sbatch.output.find('\n'));  // "NUMBER" or "NUMBER;CLUSTER"
        const std::string number = number_of_job();
        const bool is_number = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
        if (sbatch.code != 0 || !is_number) {
            throw machine::ConfigError(fmt::format("sbatch {}: {}", script.string(), last_words()));
        }
        asked_ = {};
    }

    bool is_active() override {
        constexpr auto pause = std::chrono::seconds(2);  // all users ask the same controller
        constexpr auto patience = std::chrono::minutes(10);
        const Clock::time_point now = Clock::now();
        if (now - asked_ < pause) return true;
        asked_ = now;
        const CommandResult squeue = said_in_log(
            fmt::format("squeue --noheader{} --jobs={} --format=%T", cluster_option(), number_of_job()));
        if (squeue.code == 0) {
            answered_ = now;
            return !squeue.output.empty();
        }
        const std::string words = last_words();
        // A finished job is forgotten after a while. Any other failure is the controller's: it may come back.
        if (words.find("Invalid job id") != std::string::npos) return false;
        constexpr int not_found = 127;
        if (squeue.code == not_found || now - answered_ > patience) {
            throw machine::ConfigError(fmt::format(
                "squeue: {}: job {} may go on; give the command again to wait for it", words, job_));
        }
        return true;
    }

    void cancel() override {
        if (!job_.empty()) said_in_log(fmt::format("scancel{} {}", cluster_option(), number_of_job()));
    }

    std::string logs(const std::filesystem::path& folder) const override {
        return std::filesystem::absolute(folder / "logs").string();
    }

    std::string ticket() const override { return job_; }

    bool resume(const std::filesystem::path& folder, const std::string& ticket) override {
        if (ticket.empty()) return false;
        set_folder(folder);
        job_ = ticket;
        asked_ = {};
        return is_active();
    }

private:
    using Clock = std::chrono::steady_clock;

    void set_folder(const std::filesystem::path& folder) {
        folder_ = std::filesystem::absolute(folder);
        std::error_code error;
        std::filesystem::create_directories(folder_ / "logs", error);
    }

    /// What the command prints on stderr, which may be a notice of the site, goes to a file.
    CommandResult said_in_log(const std::string& command) const {
        return run_command(command + " 2> " + shell_word(log().string()));
    }
    std::filesystem::path log() const { return folder_ / "logs" / "slurm_commands.log"; }
    /// The last line that the command printed there.
    std::string last_words() const {
        std::ifstream file(log());
        std::string last;
        for (std::string line; std::getline(file, line);) {
            if (!line.empty()) last = line;
        }
        return last.empty() ? "it failed without a message" : last;
    }

    std::string number_of_job() const { return job_.substr(0, job_.find(';')); }
    std::string cluster_option() const {
        const std::size_t end = job_.find(';');
        return end == std::string::npos ? "" : " --clusters=" + shell_word(job_.substr(end + 1));
    }

    std::string script_of(const std::filesystem::path& folder, std::size_t chunks) const {
        std::string text = "#!/bin/sh\n";
        const auto option = [&](std::string_view words) { text += fmt::format("#SBATCH {}\n", words); };
        option(fmt::format("--job-name={}", shell_word(options_.name)));
        option(fmt::format("--array=0-{}{}", chunks - 1,
                           options_.nodes > 0 ? fmt::format("%{}", options_.nodes) : std::string()));
        option("--ntasks=1");
        option(fmt::format("--cpus-per-task={}", options_.cpus));
        option(fmt::format("--output={}", shell_word((folder / "logs/%a.log").string())));
        option("--open-mode=append");
        option("--requeue");
        if (!options_.partition.empty()) option(fmt::format("--partition={}", options_.partition));
        if (!options_.time.empty()) option(fmt::format("--time={}", options_.time));
        // exec: Slurm's SIGTERM before a limit or a preemption reaches the program, which finishes its
        // points.
        return text + "exec " + chunk_command(folder, "\"$SLURM_ARRAY_TASK_ID\"", options_.cpus) + "\n";
    }

    const SlurmOptions options_;
    std::filesystem::path folder_;
    std::string job_;  ///< "NUMBER" or "NUMBER;CLUSTER"
    Clock::time_point asked_ = {};
    Clock::time_point answered_ = Clock::now();
};

}  // namespace

std::unique_ptr<Scheduler> slurm(const SlurmOptions& options) {
    return std::make_unique<Slurm>(options);
}

}  // namespace systole::sweep
