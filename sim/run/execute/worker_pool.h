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

#include "hw/base/interruption.h"
#include "sim/run/execute/process.h"
#include "sim/run/execute/scratch_folder.h"
#include "sim/run/record/spec.h"

namespace systole::run {

/// A spec that is being run, with its index among the requested specs.
struct Task {
    std::size_t index = 0;
    std::string prepared;  ///< its prepared_key: workers keep what they compiled
};

/// The parent's handle of a worker, which is a copy of this process that runs `serve`.
class WorkerProcess {
public:
    /// `others` are the descriptors of the existing workers. The new process closes its copies of them, which
    /// would otherwise keep those workers alive.
    WorkerProcess(const std::filesystem::path& folder, const std::vector<int>& others);
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;
    /// Ends the worker, also during a run.
    ~WorkerProcess();

    int descriptor() const { return socket_.number(); }
    pid_t process() const { return process_; }

    /// Sends a spec, whose contents are in the worker's folder. False if the worker has died.
    bool send(const RunSpec& spec) const;
    /// Absent if the worker has died.
    std::optional<std::string> receive() const { return read_message(descriptor()); }
    /// How a dead worker ended.
    std::string ending();

    std::optional<Task> task;        ///< the spec that it is running
    std::set<std::string> compiled;  ///< keys of the inputs that it has prepared

private:
    int wait();

    Descriptor socket_;
    pid_t process_ = -1;
    std::optional<UndoneOnInterruption> killed_;
};

/// Gives specs to workers that are free, and receives their answers.
class WorkerPool {
public:
    /// Is told which process received which spec.
    using Sent = std::function<void(pid_t worker, const RunSpec& spec)>;
    using Done = std::function<void(std::size_t index, std::string answer)>;

    /// At most this many workers at once.
    explicit WorkerPool(std::size_t most) : most_(most) {}

    /// Runs the wanted specs and calls `done` with each answer when it arrives (worker.h).
    void run(std::span<const RunSpec> specs, std::span<const std::size_t> wanted, const Sent& sent,
             const Done& done);

private:
    /// An idle worker, or a new one if the limit allows; else null.
    WorkerProcess* idle_worker();
    /// A spec whose inputs the worker has compiled; else one that no worker has compiled; else the first.
    Task take(std::list<Task>& waiting, const WorkerProcess& worker) const;
    /// Waits until workers have answered or died, and returns them.
    std::vector<WorkerProcess*> ready_workers() const;
    void drop(const WorkerProcess& worker);
    /// Copies the spec's contents into the folder of the workers, unless they are there. What cannot be
    /// copied is missing there, and a worker that opens it says why.
    void provide(const RunSpec& spec);

    const std::size_t most_;
    ScratchFolder folder_;
    std::set<std::pair<std::string, std::string>> provided_;  ///< hash and name of the contents in the folder
    std::vector<std::unique_ptr<WorkerProcess>> workers_;
};

}  // namespace systole::run
