#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/run/execute/worker_pool.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// The record of a spec, or an error message of one line.
struct RunOutcome {
    std::optional<RunRecord> record;
    std::string error;
};

/// The number of cores that this process may use.
std::size_t cores();

/// Records by the keys of their specs. The oldest are dropped if all take more memory than allowed.
class RecordCache {
public:
    explicit RecordCache(std::size_t most_bytes = std::size_t{256} << 20U) : most_bytes_(most_bytes) {}

    /// Null if there is no record of this key.
    const std::string* find(const std::string& key) const;
    void keep(const std::string& key, std::string record);

private:
    const std::size_t most_bytes_;
    std::size_t bytes_ = 0;
    std::map<std::string, std::string> records_;
    std::deque<std::string> keys_;  ///< the oldest first
};

/// Runs specs in worker processes, which are copies of this one (see worker.h). Equal specs are run once.
///
/// A copy has only this thread. So before its first run, the process must not have run an OpenMP team of
/// several threads, because a worker would wait for their missing copies, and must not have begun a
/// simulation.
class Executor {
public:
    /// Is told which process received which spec.
    using Sent = std::function<void(pid_t worker, const RunSpec& spec)>;

    /// At most `workers` processes at once; 0 means one for each core.
    explicit Executor(std::size_t workers = 0, Sent sent = {});

    /// The outcomes in the order of the specs. If a worker dies, only its current spec has an error. Throws
    /// std::system_error if the system cannot start a process.
    std::vector<RunOutcome> run(std::span<const RunSpec> specs);

    /// The number of specs that were run, that is, not found in the cache.
    std::size_t runs() const { return runs_; }

private:
    const std::size_t workers_;
    const Sent sent_;
    RecordCache cache_;
    std::optional<WorkerPool> pool_;
    std::size_t runs_ = 0;
};

}  // namespace systole::run
