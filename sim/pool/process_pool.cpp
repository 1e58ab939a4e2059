#include "sim/pool/process_pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

namespace systole::pool {
namespace {

/// The first byte of an answer says what follows: bytes of the result, or an exception's message. The last
/// says that the answer is whole.
constexpr char returned_mark = 'r';
constexpr char threw_mark = 't';
constexpr char end_mark = '.';

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// A file descriptor that is closed with its owner.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }

    int number() const { return number_; }
    void close() { *this = Descriptor(-1); }

private:
    int number_;
};

/// False where nobody reads any more.
bool write_all(int to, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(to, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// Does the job, answers and ends the process: without flushing buffers or exit handlers, which are copies
/// of the parent's.
[[noreturn]] void be_child(const Job& job, int to) noexcept {
    std::signal(SIGPIPE, SIG_IGN);
    std::string answer;
    try {
        answer = returned_mark + job();
    } catch (const std::exception& error) {
        answer = threw_mark + std::string(error.what());
    }  // anything else ends the process: it must not unwind into what the parent was about to do
    answer += end_mark;
    _exit(write_all(to, answer) ? EXIT_SUCCESS : EXIT_FAILURE);
}

std::string ending_text(int status) {
    if (WIFSIGNALED(status)) {
        const char* const name = ::strsignal(WTERMSIG(status));
        return fmt::format("its process was ended by signal {} ({})", WTERMSIG(status), name);
    }
    return fmt::format("its process ended with code {} before it had answered", WEXITSTATUS(status));
}

Outcome outcome_of(std::string answer, int status) {
    const bool whole = answer.size() >= 2 && answer.back() == end_mark;
    const bool clean = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
    if (!whole || !clean) return {.ending = Ending::Died, .bytes = {}, .message = ending_text(status)};
    const char mark = answer.front();
    answer.pop_back();
    answer.erase(0, 1);
    if (mark == returned_mark) return {.ending = Ending::Returned, .bytes = std::move(answer), .message = {}};
    return {.ending = Ending::Threw, .bytes = {}, .message = std::move(answer)};
}

/// A child process under way; one that nobody waited for is ended with its owner.
class Child {
public:
    Child(const Job& job, std::size_t index) : index_(index), from_(-1) {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
        from_ = Descriptor(ends[0]);
        const Descriptor to(ends[1]);
        process_ = ::fork();
        if (process_ < 0) fail("fork");
        if (process_ == 0) be_child(job, to.number());
    }
    Child(Child&& other) noexcept
        : index_(other.index_),
          process_(std::exchange(other.process_, -1)),
          from_(std::move(other.from_)),
          answer_(std::move(other.answer_)) {}
    Child& operator=(Child&& other) noexcept {
        std::swap(index_, other.index_);
        std::swap(process_, other.process_);
        std::swap(from_, other.from_);
        std::swap(answer_, other.answer_);
        return *this;
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        wait();
    }

    std::size_t index() const { return index_; }
    int from() const { return from_.number(); }

    /// Takes what has arrived; false at the end of the answer.
    bool read_some() {
        std::array<char, 65536> piece{};
        const ssize_t count = ::read(from_.number(), piece.data(), piece.size());
        if (count < 0) {
            if (errno == EINTR) return true;
            fail("read");
        }
        answer_.append(piece.data(), static_cast<std::size_t>(count));
        return count > 0;
    }

    /// After the end of the answer: waits for the process, and says how the job ended.
    Outcome finish() && {
        const int status = wait();
        return outcome_of(std::move(answer_), status);
    }

private:
    int wait() {
        int status = 0;
        while (::waitpid(process_, &status, 0) < 0) {
            if (errno != EINTR) break;  // somebody else waited for it: nothing is left to end
        }
        process_ = -1;
        return status;
    }

    std::size_t index_;
    pid_t process_ = -1;
    Descriptor from_;
    std::string answer_;
};

/// Waits until some children have something to say, or have ended.
std::vector<pollfd> wait_for_any(const std::vector<Child>& children) {
    std::vector<pollfd> ends;
    ends.reserve(children.size());
    for (const Child& child : children) ends.push_back({.fd = child.from(), .events = POLLIN, .revents = 0});
    while (::poll(ends.data(), ends.size(), -1) < 0) {
        if (errno != EINTR) fail("poll");
    }
    return ends;
}

}  // namespace

std::size_t cores() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
    return std::max<std::size_t>(1, static_cast<std::size_t>(CPU_COUNT(&allowed)));
}

std::vector<Outcome> run(std::span<const Job> jobs, std::size_t workers) {
    if (workers == 0) workers = cores();
    std::vector<Outcome> outcomes(jobs.size());
    std::vector<Child> children;
    std::size_t begun = 0;
    while (begun < jobs.size() || !children.empty()) {
        while (begun < jobs.size() && children.size() < workers) {
            children.emplace_back(jobs[begun], begun);
            ++begun;
        }
        const std::vector<pollfd> ends = wait_for_any(children);
        for (std::size_t i = ends.size(); i-- > 0;) {  // from the back: those that ended are taken out
            if (ends[i].revents == 0 || children[i].read_some()) continue;
            const std::size_t index = children[i].index();
            outcomes[index] = std::move(children[i]).finish();
            children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    return outcomes;
}

std::vector<std::string> run_or_throw(std::span<const Job> jobs, std::size_t workers) {
    std::vector<Outcome> outcomes = run(jobs, workers);
    std::vector<std::string> bytes;
    bytes.reserve(outcomes.size());
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].ending != Ending::Returned) {
            throw JobError(i, outcomes[i].ending, outcomes[i].message);
        }
        bytes.push_back(std::move(outcomes[i].bytes));
    }
    return bytes;
}

}  // namespace systole::pool
