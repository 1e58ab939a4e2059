#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/user_error.h"
#include "sim/run/execute/worker_pool.h"
#include "sim/study/sweep/database.h"
#include "sim/study/sweep/study.h"

namespace systole::sweep {

/// Makes the study's points those of the database. If study and files are those of the last time, this is
/// quick. `progress` is told how many points have been checked. Throws ConfigError, with the first point's
/// message, where no point has a spec.
void plan(const Study& study, Database& database, const std::function<void(std::size_t)>& progress = {});

/// Whether the database has this study's plan and metrics; this process goes by them then.
bool is_planned(const Study& study, Database& database);

/// What a run of points tells, several times a second.
struct Progress {
    Counts counts = {};          ///< of the selected points
    std::uint64_t finished = 0;  ///< by this process, done or failed
    double seconds = 0.0;        ///< since it began
};

struct RunPoints {
    std::size_t workers = 0;  ///< processes; 0: one for each core
    std::function<void(const Progress&)> progress = {};
    std::function<bool()> stop = {};  ///< whether to end as soon as the points under way are finished
    run::WorkerPool::Sent sent = {};  ///< for tests: which process runs which spec
};

/// A file that the study reads is not what it was when its points were planned.
class FilesChanged : public UserError {
public:
    using UserError::UserError;
};

/// The spec of a point that was claimed under this key. Throws FilesChanged if its spec has another key now:
/// the next process makes the plan anew; ConfigError where the point is no valid run.
run::RunSpec claimed_spec(const Study& study, Database& database, const Point& point, const std::string& key);

/// Runs the selected points that are pending, in worker processes, and waits for those that other processes
/// run. The process must be as run::Executor wants it. Throws ConfigError where a metric's path does not
/// exist, DatabaseError where results cannot be stored; the points that were under way are pending again.
void run_points(const Study& study, Database& database, const RunPoints& how);

}  // namespace systole::sweep
