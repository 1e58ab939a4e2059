#include "sim/run/execute/worker_pool.h"

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

#include "compiler/frontend/frontend.h"
#include "hw/base/interruption.h"
#include "sim/run/execute/process.h"
#include "sim/run/execute/run.h"
#include "sim/run/execute/worker.h"
#include "sim/run/record/bytes.h"

namespace systole::run {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void be_worker(int socket, const std::filesystem::path& folder) noexcept {
    try {
        serve(socket, socket, folder);
    } catch (const std::exception&) {
        _exit(EXIT_FAILURE);  // the parent notices and reports an error for the spec
    }
    _exit(EXIT_SUCCESS);
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

WorkerProcess::WorkerProcess(const std::filesystem::path& folder, const std::vector<int>& others) {
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
        be_worker(theirs.number(), folder);
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

bool WorkerProcess::send(const RunSpec& spec) const {
    return write_message(descriptor(), spec_message + to_bytes(spec));
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

void WorkerPool::run(std::span<const RunSpec> specs, std::span<const std::size_t> wanted, const Sent& sent,
                     const Done& done) {
    std::list<Task> waiting;
    for (const std::size_t index : wanted) {
        waiting.push_back({.index = index, .prepared = prepared_key(specs[index])});
    }
    std::size_t under_way = 0;
    const auto finish = [&](WorkerProcess& worker, std::string answer) {
        --under_way;
        const std::size_t index = std::exchange(worker.task, std::nullopt)->index;
        done(index, std::move(answer));
    };
    while (!waiting.empty() || under_way > 0) {
        while (!waiting.empty()) {
            WorkerProcess* const worker = idle_worker();
            if (worker == nullptr) break;
            worker->task = take(waiting, *worker);
            worker->compiled.insert(worker->task->prepared);
            ++under_way;
            const RunSpec& spec = specs[worker->task->index];
            provide(spec);
            const bool is_sent = worker->send(spec);
            if (sent) sent(worker->process(), spec);
            if (is_sent) continue;
            finish(*worker, error_message + worker->ending());
            drop(*worker);
        }
        for (WorkerProcess* const worker : ready_workers()) {
            std::optional<std::string> answer = worker->receive();
            if (answer && !answer->empty()) {
                finish(*worker, *std::move(answer));
            } else {
                finish(*worker, error_message + worker->ending());
                drop(*worker);
            }
        }
    }
}

WorkerProcess* WorkerPool::idle_worker() {
    for (const auto& worker : workers_) {
        if (!worker->task) return worker.get();
    }
    if (workers_.size() == most_) return nullptr;
    std::vector<int> others;
    for (const auto& worker : workers_) others.push_back(worker->descriptor());
    workers_.push_back(std::make_unique<WorkerProcess>(folder_.path(), others));
    return workers_.back().get();
}

Task WorkerPool::take(std::list<Task>& waiting, const WorkerProcess& worker) const {
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
    return task;
}

std::vector<WorkerProcess*> WorkerPool::ready_workers() const {
    std::vector<WorkerProcess*> busy;
    std::vector<pollfd> ends;
    for (const auto& worker : workers_) {
        if (!worker->task) continue;
        busy.push_back(worker.get());
        ends.push_back({.fd = worker->descriptor(), .events = POLLIN, .revents = 0});
    }
    while (::poll(ends.data(), ends.size(), -1) < 0) {
        if (errno != EINTR) fail_with_errno("poll");
    }
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
        if (error) fs::remove_all(place, error);
    }
}

void WorkerPool::drop(const WorkerProcess& worker) {
    std::erase_if(workers_, [&](const auto& each) { return each.get() == &worker; });
}

}  // namespace systole::run
