#pragma once

#include <chrono>
#include <cstdint>

namespace systole::cli {

/// One line on stderr that shows the progress of a run. It appears only if stderr is a terminal, and only
/// after the run has taken a second.
class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    bool wanted() const { return is_terminal_; }
    void show(std::uint64_t issued, std::uint64_t total);

private:
    using Time = std::chrono::steady_clock::time_point;

    bool is_terminal_;
    bool shown_ = false;
    Time next_;
};

}  // namespace systole::cli
