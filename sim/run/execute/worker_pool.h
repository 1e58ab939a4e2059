#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/run/execute/message.h"
#include "sim/run/execute/scratch_folder.h"
#include "sim/run/record/spec.h"

namespace systole::run {

/// A spec under way, with its place among those asked for.
struct Task {
    std::size_t index = 0;
    std::string prepared;  ///< its prepared_key: workers keep what they compiled
};

/// A worker as its parent sees it: a copy of this process that runs `serve`.
class WorkerProcess {
public:
    /// `others` are the descriptors of the workers that there are: a copy of one would keep it alive.
    WorkerProcess(const std::filesystem::path& folder, const std::vector<int>& others);
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;
    /// Ends it, whatever it is at.
    ~WorkerProcess();

    int descriptor() const { return socket_.number(); }
    pid_t process() const { return process_; }

    /// The spec, behind those of its contents that it has not had. False where it has died.
    bool send(const RunSpec& spec);
    /// Absent where it has died.
    std::optional<std::string> receive() const { return read_message(descriptor()); }
    /// Of one that has died: how.
    std::string ending();

    std::optional<Task> task;        ///< what it is at
    std::set<std::string> compiled;  ///< keys of what it has prepared

private:
    int wait();

    Descriptor socket_;
    pid_t process_ = -1;
    std::set<std::pair<std::string, std::string>> sent_;  ///< contents
};

/// Gives specs to workers as these come free, and takes their answers.
class WorkerPool {
public:
    /// Hears which process was given which spec.
    using Sent = std::function<void(pid_t worker, const RunSpec& spec)>;
    using Done = std::function<void(std::size_t index, std::string answer)>;

    /// At most so many at once.
    explicit WorkerPool(std::size_t most) : most_(most) {}

    /// Runs those of the specs that are wanted; calls `done` with each answer as it comes (worker.h).
    void run(std::span<const RunSpec> specs, std::span<const std::size_t> wanted, const Sent& sent,
             const Done& done);

private:
    /// One that has nothing to do, a new one where there may be more; else null.
    WorkerProcess* idle_worker();
    /// What the worker has compiled already; else what nobody has; else the first.
    Task take(std::list<Task>& waiting, const WorkerProcess& worker) const;
    /// Those with an answer, or that have died; waits until there are some.
    std::vector<WorkerProcess*> ready_workers() const;
    void drop(const WorkerProcess& worker);

    const std::size_t most_;
    ScratchFolder folder_;
    std::vector<std::unique_ptr<WorkerProcess>> workers_;
};

}  // namespace systole::run
