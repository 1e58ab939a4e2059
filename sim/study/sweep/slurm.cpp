// Chunks as the tasks of a Slurm job array.
#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "hw/base/whole_file.h"
#include "hw/machine/config_error.h"
#include "sim/study/sweep/cluster.h"
#include "sim/study/sweep/command_line.h"

namespace systole::sweep {
namespace {

struct CommandResult {
    int code = -1;
    std::string output;  ///< of stdout and stderr
};

CommandResult run_command(const std::string& line) {
    CommandResult result;
    FILE* const pipe = ::popen((line + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return result;
    std::array<char, 4096> piece{};
    while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), pipe)) {
        result.output.append(piece.data(), size);
    }
    const int status = ::pclose(pipe);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

class Slurm final : public Scheduler {
public:
    explicit Slurm(SlurmOptions options) : options_(std::move(options)) {}

    void submit(const std::filesystem::path& folder, std::size_t chunks) override {
        const std::filesystem::path absolute = std::filesystem::absolute(folder);
        std::error_code error;
        std::filesystem::create_directories(absolute / "logs", error);
        const std::filesystem::path script = absolute / "job.sh";
        write_file(script, script_of(absolute, chunks));
        const CommandResult sbatch = run_command("sbatch --parsable " + shell_word(script.string()));
        // "NUMBER" or "NUMBER;CLUSTER"
        job_ = sbatch.output.substr(0, sbatch.output.find_first_of(";\n"));
        const bool is_number = !job_.empty() && job_.find_first_not_of("0123456789") == std::string::npos;
        if (sbatch.code != 0 || !is_number) {
            throw machine::ConfigError(
                fmt::format("sbatch {}: {}", script.string(), first_line(sbatch.output)));
        }
    }

    bool is_active() override {
        const CommandResult squeue =
            run_command(fmt::format("squeue --noheader --jobs={} --format=%T", job_));
        if (squeue.code == 0) return !squeue.output.empty();
        // A finished job is forgotten after a while. Any other failure is the controller's: it may come back.
        return squeue.output.find("Invalid job id") == std::string::npos;
    }

    void cancel() override {
        if (!job_.empty()) run_command("scancel " + job_);
    }

    std::string logs(const std::filesystem::path& folder) const override {
        return std::filesystem::absolute(folder / "logs").string();
    }

    std::string ticket() const override { return job_; }

    bool resume(const std::string& ticket) override {
        if (ticket.empty()) return false;
        job_ = ticket;
        return is_active();
    }

private:
    std::string script_of(const std::filesystem::path& folder, std::size_t chunks) const {
        std::string text = "#!/bin/sh\n";
        const auto option = [&](std::string_view words) { text += fmt::format("#SBATCH {}\n", words); };
        option(fmt::format("--job-name={}", options_.name));
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
    std::string job_;
};

}  // namespace

std::unique_ptr<Scheduler> slurm(const SlurmOptions& options) {
    return std::make_unique<Slurm>(options);
}

}  // namespace systole::sweep
