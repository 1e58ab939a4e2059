#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace systole::cli {

/// One line on stderr that shows how far the work is. On a terminal it appears after a second, changes, and
/// is erased at the end. In a log there is one each minute, from the first or the second minute on.
class ProgressLine {
public:
    enum class Log : std::uint8_t { EachMinute, EachMinuteOfLong };

    explicit ProgressLine(Log log);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// Shows what `text` gives, if it is time for it.
    void show(const std::function<std::string()>& text);
    /// Makes room on a terminal for another line.
    void erase();

private:
    using Time = std::chrono::steady_clock::time_point;

    const bool is_terminal_;
    bool shown_ = false;
    Time next_;
};

}  // namespace systole::cli
