#include "sim/cli/sign_of_life.h"

#include <fmt/format.h>

#include <condition_variable>
#include <string>

namespace systole::cli {

SignOfLife::SignOfLife(const char* work)
    : work_(work), thread_([this](const std::stop_token& stop) { show_until(stop); }) {}

SignOfLife::~SignOfLife() = default;

void SignOfLife::show_until(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds between(100);
    const auto text = [&]() -> std::string {
        const std::uint64_t total = total_;
        const std::uint64_t issued = issued_;
        if (total > 0) {
            return fmt::format("simulating: {:3} %, instruction {} of {}", 100 * issued / total, issued,
                               total);
        }
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_);
        return fmt::format("{} for {} s so far", work_.load(), seconds.count());
    };
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        stopped.wait_for(lock, stop, between, [] { return false; });
        if (!stop.stop_requested()) line_.show(text);
    }
}

void SignOfLife::begin(const char* work) {
    work_ = work;
}

run::Progress SignOfLife::progress() {
    return [this](std::uint64_t issued, std::uint64_t total) {
        issued_ = issued;
        total_ = total;
    };
}

void SignOfLife::erase() {
    const std::lock_guard lock(mutex_);
    line_.erase();
}

}  // namespace systole::cli
