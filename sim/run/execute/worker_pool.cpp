#include "sim/run/execute/worker_pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>

#include "base/interruption.h"
#include "compiler/frontend/door/read_network.h"
#include "sim/run/execute/process.h"
#include "sim/run/execute/run.h"
#include "sim/run/execute/worker.h"
#include "sim/run/network.h"
#include "sim/run/record/bytes.h"
#include "sim/run/record/content.h"

namespace systole::run {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void be_worker(int socket, const fs::path& folder, const Summary& summary) noexcept {
    try {
        serve(socket, socket, folder, summary);
    } catch (const std::exception&) {
        _exit(EXIT_FAILURE);  // the parent notices and reports an error for the spec
    }
    _exit(EXIT_SUCCESS);
}

/// Reads the network of a timing-only run here, from the workers' folder, so that it is known to all workers,
/// which are copies.
void read_for_workers(RunSpec spec, const fs::path& folder) {
    if (!spec.timing_only || !spec.network || spec.network->hash.empty()) return;
    spec.network->path.text = place_of(folder, *spec.network).string();
    try {
        read_model(spec);
    } catch (const std::exception&) {
        return;  // the worker that runs the spec reports it
    }
}

/// Copies the files beside a network's file that hold its weights.
void copy_further_files(const fs::path& network, const fs::path& folder, std::error_code& error) {
    for (const fs::path& file : frontend::further_files(network)) {
        fs::create_directories((folder / file).parent_path(), error);
        if (!error) fs::copy(network.parent_path() / file, folder / file, error);
        if (error) return;
    }
}

}  // namespace

std::string hash_at(const RunSpec& spec, const Content& content, const fs::path& place) {
    const bool is_network = spec.network && &content == &*spec.network;
    return is_network ? content_of(place, frontend::further_files(place)).hash : content_of(place).hash;
}

WorkerProcess::WorkerProcess(const fs::path& folder, const Summary& summary, const std::vector<int>& others) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail_with_errno("socketpair");
    socket_ = Descriptor(ends[0]);
    Descriptor theirs(ends[1]);
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0) fail_with_errno("fork");
    if (process_ == 0) {
        end_with_parent(parent);
        for (const int other : others) ::close(other);
        socket_.close();
        be_worker(theirs.number(), folder, summary);
    }
    // Waits for its end, so that it writes no more files.
    killed_.emplace([process = process_] {
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
    });
}

WorkerProcess::~WorkerProcess() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    wait();
}

bool WorkerProcess::send(const std::string& spec) const {
    return write_message(descriptor(), spec_message + spec);
}

std::string WorkerProcess::ending() {
    return ending_text(wait());
}

int WorkerProcess::wait() {
    killed_.reset();  // its number may soon be another's
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0) {
        if (errno != EINTR) break;
    }
    process_ = -1;
    return status;
}

struct WorkerPool::Loop {
    WorkerPool& pool;
    const More& more;
    const Done& done;
    const Sent& sent;
    std::list<Task> waiting = {};
    std::size_t under_way = 0;

    using Clock = std::chrono::steady_clock;

    void fill() {
        if (pool.is_stopped_) waiting.clear();
        if (pool.is_stopped_ || waiting.size() >= pool.most_) return;
        for (Task& task : more()) {
            task.prepared = prepared_key(task.spec);
            waiting.push_back(std::move(task));
        }
    }

    void begin(WorkerProcess& worker) {
        worker.begin = Clock::now();
        if (sent) sent(worker.process(), *worker.task);
    }

    /// False if the worker has died and is no more.
    bool give(WorkerProcess& worker) {
        worker.task = pool.take(waiting, worker);
        ++under_way;
        pool.provide(worker.task->spec);
        const bool is_sent = worker.send(to_bytes(worker.task->spec));
        begin(worker);
        if (is_sent) return true;
        --under_way;
        done(worker.task->number, died_message + worker.ending());
        pool.drop(worker);
        return false;
    }

    /// Sends the worker another task. A worker that has died is noticed when its answer is read.
    void give_next(WorkerProcess& worker) {
        Task task = pool.take(waiting, worker);
        pool.provide(task.spec);
        const std::string bytes = to_bytes(task.spec);
        // The worker reads it later: it must fit the socket's buffer.
        constexpr std::size_t most = std::size_t{64} << 10U;
        if (bytes.size() > most || !worker.send(bytes)) {
            waiting.push_front(std::move(task));
            return;
        }
        worker.next = std::move(task);
        ++under_way;
    }

    void read_answer(WorkerProcess& worker) {
        std::optional<std::string> answer = worker.receive();
        const std::uint64_t number = std::exchange(worker.task, std::nullopt)->number;
        const bool was_short = Clock::now() - worker.begin < pool.short_task_;
        --under_way;
        if (!answer || answer->empty()) {
            answer = died_message + worker.ending();
            if (worker.next) {
                waiting.push_front(*std::move(worker.next));
                --under_way;
            }
            pool.drop(worker);
        } else {  // first, so that the worker does not wait while the answer is stored
            bool has_task = worker.next.has_value();
            if (has_task) {
                worker.task = std::exchange(worker.next, std::nullopt);
                begin(worker);
            } else if (!waiting.empty()) {
                has_task = give(worker);
            }
            // Not of the last tasks, which other workers may begin earlier.
            if (has_task && was_short && waiting.size() > pool.most_) give_next(worker);
        }
        done(number, *std::move(answer));
        fill();
    }
};

void WorkerPool::run(const More& more, const Done& done, const Sent& sent, const Tick& tick) {
    is_stopped_ = false;
    Loop loop{.pool = *this, .more = more, .done = done, .sent = sent};
    try {
        run(loop, tick);
    } catch (...) {
        // What still runs has an answer that nobody waits for.
        std::erase_if(workers_, [](const auto& worker) { return worker->task.has_value(); });
        throw;
    }
}

void WorkerPool::run(Loop& loop, const Tick& tick) {
    loop.fill();
    if (workers_.empty() && !loop.waiting.empty()) {
        const RunSpec& first = loop.waiting.front().spec;
        provide(first);
        read_for_workers(first, folder_.path());
    }
    while (!loop.waiting.empty() || loop.under_way > 0) {
        while (!loop.waiting.empty()) {
            WorkerProcess* const worker = idle_worker();
            if (worker == nullptr) break;
            loop.give(*worker);
            loop.fill();
        }
        const std::vector<WorkerProcess*> ready = ready_workers(tick);
        if (is_stopped_) loop.waiting.clear();
        for (WorkerProcess* const worker : ready) loop.read_answer(*worker);
    }
}

WorkerProcess* WorkerPool::idle_worker() {
    for (const auto& worker : workers_) {
        if (!worker->task) return worker.get();
    }
    if (workers_.size() == most_) return nullptr;
    std::vector<int> others;
    for (const auto& worker : workers_) others.push_back(worker->descriptor());
    workers_.push_back(std::make_unique<WorkerProcess>(folder_.path(), summary_, others));
    return workers_.back().get();
}

Task WorkerPool::take(std::list<Task>& waiting, WorkerProcess& worker) const {
    const auto by_it = std::find_if(waiting.begin(), waiting.end(), [&](const Task& task) {
        return worker.compiled.contains(task.prepared);
    });
    const auto by_nobody = [&](const Task& task) {
        return std::none_of(workers_.begin(), workers_.end(),
                            [&](const auto& other) { return other->compiled.contains(task.prepared); });
    };
    auto chosen = by_it;
    if (chosen == waiting.end()) chosen = std::find_if(waiting.begin(), waiting.end(), by_nobody);
    if (chosen == waiting.end()) chosen = waiting.begin();
    Task task = std::move(*chosen);
    waiting.erase(chosen);
    worker.compiled.insert(task.prepared);
    return task;
}

std::vector<WorkerProcess*> WorkerPool::ready_workers(const Tick& tick) const {
    std::vector<WorkerProcess*> busy;
    std::vector<pollfd> ends;
    for (const auto& worker : workers_) {
        if (!worker->task) continue;
        busy.push_back(worker.get());
        ends.push_back({.fd = worker->descriptor(), .events = POLLIN, .revents = 0});
    }
    constexpr int tick_milliseconds = 250;
    int count = 0;
    do {
        count = ::poll(ends.data(), ends.size(), tick_milliseconds);
        if (count < 0 && errno != EINTR) fail_with_errno("poll");
        if (tick) tick();
    } while (count <= 0);
    std::vector<WorkerProcess*> ready;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (ends[i].revents != 0) ready.push_back(busy[i]);
    }
    return ready;
}

void WorkerPool::provide(const RunSpec& spec) {
    RunSpec copy = spec;
    for (const Content* content : contents_of(copy)) {
        if (content->hash.empty() || !provided_.insert({content->hash, content->name}).second) continue;
        const fs::path place = place_of(folder_.path(), *content);
        std::error_code error;
        fs::create_directories(place.parent_path(), error);
        // Of a folder, its files are copied; folders inside it are no content.
        if (!error) fs::copy(content->path.text, place, error);
        if (!error && copy.network && content == &*copy.network)
            copy_further_files(content->path.text, place.parent_path(), error);
        if (error) {
            fs::remove_all(place, error);
        } else if (hash_at(copy, *content, place) != content->hash) {
            throw ContentChanged(
                fmt::format("{}: it has changed since the run was planned", content->path.text));
        }
    }
}

void WorkerPool::drop(const WorkerProcess& worker) {
    std::erase_if(workers_, [&](const auto& each) { return each.get() == &worker; });
}

}  // namespace systole::run
