#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include "sim/cli/progress_line.h"
#include "sim/run/execute/run.h"

namespace systole::cli {

/// Shows on stderr that a run goes on, also while it reads and compiles a network or simulates what explains
/// it: on a terminal a line that changes, in a log a line each minute once two have passed.
class SignOfLife {
public:
    static constexpr const char* explaining = "simulating changes";
    static constexpr const char* decoding = "simulating prompts and steps";
    static constexpr const char* compiling = "reading and compiling";

    /// `work` is one of these.
    explicit SignOfLife(const char* work);
    ~SignOfLife();
    SignOfLife(const SignOfLife&) = delete;
    SignOfLife& operator=(const SignOfLife&) = delete;

    /// The work that begins.
    void begin(const char* work);
    /// Tells how far the simulation is. Valid as long as this.
    run::Progress progress();
    /// Makes room on a terminal for another line.
    void erase();

private:
    using Clock = std::chrono::steady_clock;

    void show_until(const std::stop_token& stop);

    const Clock::time_point begin_ = Clock::now();
    std::atomic<const char*> work_;
    std::atomic<std::uint64_t> issued_ = 0;
    std::atomic<std::uint64_t> total_ = 0;  ///< 0: the simulation has not begun
    std::mutex mutex_;                      ///< of the line
    ProgressLine line_{ProgressLine::Log::EachMinuteOfLong};
    std::jthread thread_;  ///< the last, as it uses the others
};

}  // namespace systole::cli
