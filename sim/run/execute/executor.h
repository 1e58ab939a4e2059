#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/run/execute/worker_pool.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// A spec's record, or, in one line, why there is none.
struct RunOutcome {
    std::optional<RunRecord> record;
    std::string error;
};

/// As many as this computer has cores for this process.
std::size_t cores();

/// Records by the keys of their specs. The oldest go where they take too much memory.
class RecordCache {
public:
    explicit RecordCache(std::size_t most_bytes = std::size_t{256} << 20U) : most_bytes_(most_bytes) {}

    /// Null where there is none.
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
/// A copy is of this thread alone: before its first run, the process must not have run an OpenMP team of
/// several threads, whose copies a worker would wait for, and must not have begun a simulation.
class Executor {
public:
    /// `workers` at once, 0 for as many as there are cores.
    explicit Executor(std::size_t workers = 0, WorkerPool::Sent sent = {});

    /// In the order of the specs. A worker that dies costs no spec but the one it had. Throws
    /// std::system_error where the system gives no process.
    std::vector<RunOutcome> run(std::span<const RunSpec> specs);

    /// Specs that were run, not found.
    std::size_t runs() const { return runs_; }

private:
    const std::size_t workers_;
    const WorkerPool::Sent sent_;
    RecordCache cache_;
    std::optional<WorkerPool> pool_;
    std::size_t runs_ = 0;
};

}  // namespace systole::run
