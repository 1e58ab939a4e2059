#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace systole::cli {

/// One line on stderr that shows how far the work is. On a terminal it appears after a second, changes, and
/// is erased at the end. In a log there is none, or one each minute.
class ProgressLine {
public:
    enum class Log : std::uint8_t { None, EachMinute };

    explicit ProgressLine(Log log = Log::None);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// Whether lines are ever shown.
    bool wanted() const { return is_terminal_ || log_ != Log::None; }
    /// Shows what `text` gives, if it is time for it.
    void show(const std::function<std::string()>& text);

private:
    using Time = std::chrono::steady_clock::time_point;

    const bool is_terminal_;
    const Log log_;
    bool shown_ = false;
    Time next_;
};

}  // namespace systole::cli
