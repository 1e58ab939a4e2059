#include "base/interruption.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace systole {
namespace {

struct Undoings {
    std::mutex mutex;
    std::list<std::function<void()>> list;
};

/// Never destroyed: the thread that waits for signals uses it until the process ends.
Undoings& undoings() {
    static auto* const all = new Undoings;
    return *all;
}

struct Signal {
    int number;
    std::string_view message;
};

constexpr std::array ending_signals{Signal{SIGINT, "interrupted"}, Signal{SIGTERM, "interrupted by SIGTERM"},
                                    Signal{SIGHUP, "interrupted by SIGHUP"}};

/// The signal that an InterruptionRequest was given; no_request without such an owner.
constexpr int no_request = -1;
std::atomic<int> requested = no_request;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

bool is_ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Exits without destructors and exit handlers, because other threads still run.
[[noreturn]] void end(int signal) {
    Undoings& all = undoings();
    const std::lock_guard lock(all.mutex);  // held to the end: nothing is made or destroyed any more
    std::for_each(all.list.rbegin(), all.list.rend(), [](const std::function<void()>& undo) { undo(); });
    // Clears a line of progress, or the terminal's "^C".
    std::string line = ::isatty(STDERR_FILENO) == 1 ? "\r\x1b[K" : "";
    for (const Signal& each : ending_signals) {
        if (each.number == signal) line += fmt::format("sim: {}; no unfinished file is left\n", each.message);
    }
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    ::_exit(128 + signal);
}

}  // namespace

UndoneOnInterruption::UndoneOnInterruption(std::function<void()> undo) {
    const std::lock_guard lock(undoings().mutex);
    undoings().list.push_back(std::move(undo));
    place_ = std::prev(undoings().list.end());
}

UndoneOnInterruption::~UndoneOnInterruption() {
    const std::lock_guard lock(undoings().mutex);
    undoings().list.erase(place_);
}

InterruptionRequest::InterruptionRequest() {
    requested = 0;
}

InterruptionRequest::~InterruptionRequest() {
    requested = no_request;
}

int InterruptionRequest::signal() const {
    return requested;
}

void end_cleanly_on_interruption() {
    sigset_t signals;
    sigemptyset(&signals);
    bool any = false;
    for (const Signal& signal : ending_signals) {
        // A blocked signal arrives even if it is ignored, as SIGHUP is after nohup.
        if (is_ignored(signal.number)) continue;
        sigaddset(&signals, signal.number);
        any = true;
    }
    if (!any || ::pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) return;
    std::thread([signals] {
        while (true) {
            int signal = 0;
            if (::sigwait(&signals, &signal) != 0) continue;
            int not_yet = 0;
            if (!requested.compare_exchange_strong(not_yet, signal)) end(signal);
        }
    }).detach();
}

void end_with_parent(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // No signal comes of a parent that ended before.
    if (::getppid() != parent) ::raise(SIGKILL);
}

}  // namespace systole
