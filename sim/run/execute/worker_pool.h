#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/interruption.h"
#include "base/user_error.h"
#include "sim/run/execute/process.h"
#include "sim/run/execute/scratch_folder.h"
#include "sim/run/execute/worker.h"
#include "sim/run/record/spec.h"

namespace systole::run {

/// A file of a spec has other bytes than when the spec was made: its result would have a wrong key.
class ContentChanged : public UserError {
public:
    using UserError::UserError;
};

/// The hash that a content of this spec has at a place now; empty where it cannot be read.
std::string hash_at(const RunSpec& spec, const Content& content, const std::filesystem::path& place);

/// A spec to run, and the number by which its answer is told.
struct Task {
    std::uint64_t number = 0;
    RunSpec spec;
    std::string prepared = {};  ///< its prepared_key: workers keep what they compiled
};

/// The parent's handle of a worker, which is a copy of this process that runs `serve`.
class WorkerProcess {
public:
    /// `others` are the descriptors of the existing workers. The new process closes its copies of them, which
    /// would otherwise keep those workers alive.
    WorkerProcess(const std::filesystem::path& folder, const Summary& summary,
                  const std::vector<int>& others);
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;
    /// Ends the worker, also during a run.
    ~WorkerProcess();

    int descriptor() const { return socket_.number(); }
    pid_t process() const { return process_; }

    /// Sends a spec in bytes, whose contents are in the worker's folder. False if the worker has died.
    bool send(const std::string& spec) const;
    /// Absent if the worker has died.
    std::optional<std::string> receive() const { return read_message(descriptor()); }
    /// How a dead worker ended.
    std::string ending();

    std::optional<Task> task;  ///< the spec that it is running
    std::optional<Task> next;  ///< what it has been sent, to begin when that has ended
    std::chrono::steady_clock::time_point begin = {};  ///< of the task
    std::set<std::string> compiled;                    ///< keys of the inputs that it has prepared

private:
    int wait();

    Descriptor socket_;
    pid_t process_ = -1;
    std::optional<UndoneOnInterruption> killed_;
};

/// Gives specs to workers that are free, and receives their answers. A worker whose specs take some
/// hundredths of a second has the next one before it ends, so that it does not wait for this process.
class WorkerPool {
public:
    /// Is told which process begins which task.
    using Sent = std::function<void(pid_t worker, const Task& task)>;
    /// Further tasks, when fewer than workers wait: none if there are no more. Called again after each
    /// answer.
    using More = std::function<std::vector<Task>()>;
    /// The answer to a task: a message as in worker.h.
    using Done = std::function<void(std::uint64_t number, std::string answer)>;
    /// Called at least every quarter of a second while workers run.
    using Tick = std::function<void()>;

    /// At most this many workers at once; `summary` is what they answer of a record (worker.h). A worker
    /// whose task took less than `short_task` gets the next one before it asks.
    explicit WorkerPool(std::size_t most, Summary summary = {},
                        std::chrono::milliseconds short_task = std::chrono::milliseconds(100))
        : most_(most), summary_(std::move(summary)), short_task_(short_task) {}

    /// Runs tasks until there are no more, and calls `done` with each answer when it arrives. Throws
    /// ContentChanged.
    void run(const More& more, const Done& done, const Sent& sent = {}, const Tick& tick = {});
    /// To be called by one of these: no further task begins, but for one that a worker has already. Those
    /// that wait get no answer.
    void stop() { is_stopped_ = true; }

private:
    struct Loop;
    void run(Loop& loop, const Tick& tick);
    /// An idle worker, or a new one if the limit allows; else null.
    WorkerProcess* idle_worker();
    /// A spec whose inputs the worker has compiled; else one that no worker has compiled; else the first.
    Task take(std::list<Task>& waiting, WorkerProcess& worker) const;
    /// Waits until workers have answered or died, and returns them.
    std::vector<WorkerProcess*> ready_workers(const Tick& tick) const;
    void drop(const WorkerProcess& worker);
    /// Copies the spec's contents into the folder of the workers, unless they are there. What cannot be
    /// copied is missing there, and a worker that opens it says why. Throws ContentChanged.
    void provide(const RunSpec& spec);

    const std::size_t most_;
    const Summary summary_;
    const std::chrono::milliseconds short_task_;
    bool is_stopped_ = false;
    ScratchFolder folder_;
    std::set<std::pair<std::string, std::string>> provided_;  ///< hash and name of the contents in the folder
    std::vector<std::unique_ptr<WorkerProcess>> workers_;
};

}  // namespace systole::run
