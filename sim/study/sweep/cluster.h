#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/study/sweep/database.h"
#include "sim/study/sweep/run_points.h"
#include "sim/study/sweep/study.h"

/// Studies on other computers: a scheduler runs chunks (chunk.h), and this process gathers their results.
namespace systole::sweep {

/// Something that runs chunks.
class Scheduler {
public:
    virtual ~Scheduler() = default;
    /// Begins to run this many chunks of the folder. Throws ConfigError where that is refused.
    virtual void submit(const std::filesystem::path& folder, std::size_t chunks) = 0;
    /// Whether some chunks still run or wait. Also true while nobody can say.
    virtual bool is_active() = 0;
    /// Ends all of them.
    virtual void cancel() = 0;
    /// Where chunks that end at once say why, for a message.
    virtual std::string logs(const std::filesystem::path& folder) const = 0;
    /// What a further process needs to go on with chunks that run now; empty: it cannot.
    virtual std::string ticket() const { return {}; }
    /// Goes on with what another process submitted. False if nothing of it is active.
    virtual bool resume(const std::filesystem::path& /*folder*/, const std::string& /*ticket*/) {
        return false;
    }
};

/// Slurm: a job array with a task for each chunk. sbatch, squeue and scancel are found by PATH.
struct SlurmOptions {
    std::string partition = {};
    std::string time = {};  ///< limit of a task, as sbatch takes it
    std::size_t nodes = 0;  ///< tasks at once; 0: as many as Slurm starts
    std::size_t cpus = 1;   ///< of a task: processes that run points
    std::string name = "systole";
};
std::unique_ptr<Scheduler> slurm(const SlurmOptions& options);

/// Any command: one run of `command` for each chunk, at most `at_once` at a time, by sh. "{chunk}" in it
/// stands for the command line that runs the chunk with `workers` processes; the command must end when that
/// has ended.
std::unique_ptr<Scheduler> launcher(const std::string& command, std::size_t at_once, std::size_t workers);

struct ClusterRun {
    std::filesystem::path folder;  ///< that all computers see
    std::size_t most_chunks = 64;
    std::function<void(const Progress&)> progress = {};
    std::function<bool()> stop = {};  ///< whether to cancel what runs
    std::function<void(const std::string&)> warn = {};
};

/// Runs the selected points that are pending. Points whose chunks end without their results are run again; a
/// point that was under way in three such chunks fails. A process that is killed loses nothing: the next one
/// goes on with the scheduler's jobs. Throws ConfigError where chunks end three times without running a
/// point.
void run_on_cluster(const Study& study, Database& database, Scheduler& scheduler, const ClusterRun& how);

/// The command line that runs a chunk: this program's.
std::string chunk_command(const std::filesystem::path& folder, const std::string& number,
                          std::size_t workers);

}  // namespace systole::sweep
