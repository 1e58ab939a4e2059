#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/sweep/sqlite.h"

/// The results of a study: one SQLite file, which survives the death of any process that writes it.
///
/// `points` are those of the study, with their settings and the key of their spec; `runs` are by that key, so
/// that a changed study finds what it has run before. The view `results` has a row for each point: its
/// number, a column for each key that varies, its state, a column for each metric, and its error.
namespace systole::sweep {

/// The note with Study::description.
inline constexpr std::string_view study_note = "study";

/// The columns of the table of results besides keys and metrics; a file of CSV has some of them.
inline constexpr std::array<std::string_view, 8> columns_beside_metrics{
    "point", "state", "error", "wall_seconds", "attempts", "host", "version", "key"};

/// Whether SQL takes two names for one: it does not tell capital letters from small ones.
bool is_same_column(std::string_view one, std::string_view other);

/// What is stored with a plan.
struct PlanNotes {
    std::string study;        ///< Study::description
    std::string fingerprint;  ///< equal texts: equal points with equal specs, and equal metrics
};

/// A point as it is to be run. Its spec's key, or why it has no spec.
struct PlannedPoint {
    std::uint64_t number = 0;
    std::string settings;  ///< JSON: an object of the keys that vary
    std::string key = {};
    std::string error = {};
};

/// A point that this process is to run.
struct Claim {
    std::uint64_t number = 0;
    std::string key;
};

/// What became of a run.
struct RunResult {
    std::string metrics = {};  ///< JSON: an object of numbers and nulls
    std::string record = {};   ///< the RunRecord's bytes, compressed
    std::string spec = {};     ///< the RunSpec's bytes, compressed, of a run that failed: it has no record
    std::string error = {};    ///< empty: it succeeded
    std::string host = {};     ///< where it ran; empty: where it was claimed
    double wall_seconds = 0.0;
};

/// The number of points by state.
struct Counts {
    std::uint64_t pending = 0;
    std::uint64_t running = 0;
    std::uint64_t done = 0;
    std::uint64_t failed = 0;

    std::uint64_t all() const { return pending + running + done + failed; }
    /// A point that was pending or running when the others were counted has ended.
    void end_one(bool has_failed) {
        std::uint64_t& open = pending > 0 ? pending : running;
        if (open > 0) --open;
        ++(has_failed ? failed : done);
    }
};

/// A point with what is known of it.
struct StoredPoint {
    std::uint64_t number = 0;
    std::string settings;
    std::string state;    ///< "pending", "running", "done", "failed"
    std::string metrics;  ///< empty unless done
    std::string error;
};

class Database {
public:
    /// Creates the file if there is none. Throws DatabaseError, also where the file is not one of results.
    static Database open(const std::filesystem::path& file);
    /// The results as they are, to be read.
    static Database open_to_read(const std::filesystem::path& file);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    const std::string& file() const { return file_; }
    /// A text that was stored under a name; empty if none was.
    std::string note(std::string_view name);
    void set_note(std::string_view name, std::string_view text);

    /// Makes these the points of the study, and the view `results` with these columns. Runs that are known
    /// keep their results. Points without a spec fail.
    void plan(std::span<const PlannedPoint> points, std::span<const std::string> keys,
              std::span<const std::string> metrics, const PlanNotes& notes);
    /// The next process makes its plan anew.
    void forget_plan();
    /// Goes on with the plan that is there. False if it is another one, or none.
    bool resume(std::string_view fingerprint);
    /// Restricts `claim`, `retry_failed`, `counts` and `points` to these points.
    void select(std::span<const std::uint64_t> numbers);
    void select_all();

    /// Frees the points of processes that have died, in this process's view. Returns their number.
    std::uint64_t free_points_of_the_dead();
    /// Makes failed points pending again. Returns their number.
    std::uint64_t retry_failed();
    /// Takes up to `most` pending points, the first ones, for this process. It and those that store
    /// results throw DatabaseError where another process has made another plan.
    std::vector<Claim> claim(std::uint64_t most);
    /// Stores the result of a run that this process has claimed.
    void finish(const std::string& key, const RunResult& result);
    /// Stores the result of a run that is not finished, whoever has claimed it: equal specs have equal
    /// results. A success also replaces a failure. False if it is finished already, or of no point.
    bool adopt(const std::string& key, const RunResult& result);
    /// Gives back a claimed run. `died`: its process died, which is told by `error` after three times.
    void give_back(const std::string& key, std::string_view died = {});
    /// Tells other computers that this process lives.
    void beat();

    Counts counts();
    std::vector<StoredPoint> points();
    /// The state of a point; empty where there is none.
    std::string state(std::uint64_t number);
    /// The compressed record of a point; absent unless it is done.
    std::optional<std::string> record(std::uint64_t number);
    /// The keys of all runs that are done, also of those that no point of the plan has.
    std::vector<std::string> done_runs();
    /// The compressed record of a run; absent unless it is done.
    std::optional<std::string> record_of_run(std::string_view key);
    /// Replaces the metrics of a run that is done.
    void set_metrics(std::string_view key, std::string_view metrics);

private:
    Database(const std::filesystem::path& file, sqlite::Connection::Mode mode);
    void check_kind(const std::filesystem::path& file);
    void register_owner();
    /// Throws DatabaseError where another process has made another plan.
    void check_plan();
    bool store(const std::string& key, const RunResult& result, bool is_own);
    void make_view(std::span<const std::string> keys, std::span<const std::string> metrics);

    sqlite::Connection connection_;
    std::string file_;
    std::string fingerprint_;        ///< of the plan that this process goes by; empty: none
    std::int64_t owner_ = 0;         ///< 0: this process has claimed nothing
    std::int64_t last_claimed_ = 0;  ///< point
};

}  // namespace systole::sweep
