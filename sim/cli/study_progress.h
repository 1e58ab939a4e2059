#pragma once

#include <chrono>

#include "sim/study/sweep/run_points.h"

namespace systole::cli {

/// The progress of a study on stderr: a line that changes on a terminal, a line each minute in a log.
class StudyProgress {
public:
    StudyProgress();
    ~StudyProgress();
    StudyProgress(const StudyProgress&) = delete;
    StudyProgress& operator=(const StudyProgress&) = delete;

    /// `is_ending`: no further point begins.
    void show(const sweep::Progress& progress, bool is_ending);

private:
    using Time = std::chrono::steady_clock::time_point;

    bool is_terminal_;
    bool shown_ = false;
    Time next_;
};

}  // namespace systole::cli
