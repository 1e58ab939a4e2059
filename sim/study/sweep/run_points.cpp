#include "sim/study/sweep/run_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/user_error.h"
#include "hw/machine/config_error.h"
#include "sim/run/execute/executor.h"
#include "sim/run/execute/on_all_cores.h"
#include "sim/run/execute/worker.h"
#include "sim/run/record/bytes.h"
#include "sim/run/record/content.h"
#include "sim/study/sweep/build_id.h"
#include "sim/study/sweep/command_line.h"
#include "sim/study/sweep/point_answer.h"
#include "sim/study/sweep/stored_record.h"
#include "sim/view/report/report.h"

namespace systole::sweep {

using machine::ConfigError;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string settings_json(const Study& study, const Point& point) {
    nlohmann::ordered_json settings = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < study.keys().size(); ++i) settings[study.keys()[i]] = point.values[i];
    return json_text(settings);
}

/// The key of a run: equal specs on the same build of the simulator have equal results.
std::string run_key(const run::RunSpec& spec) {
    return run::hash_of(run::key_of(spec) + build_id());
}

/// The key of a point without a spec.
std::string key_of_error(const std::string& settings, std::string_view error) {
    return run::hash_of(settings + std::string(error));
}

PlannedPoint planned(const Study& study, const Point& point) {
    PlannedPoint plan{.number = point.number, .settings = settings_json(study, point)};
    try {
        plan.key = run_key(study.spec_of(point));
    } catch (const UserError& error) {
        plan.error = error.what();
        plan.key = key_of_error(plan.settings, plan.error);
    }
    return plan;
}

/// A text that is the same only if all points have the same specs as before. Points that differ in numbers
/// alone read the same files and the same base: the spec of one of them, which is valid, knows all of these.
std::string fingerprint(const Study& study) {
    std::string text = run::hash_of(study.metrics().definitions());
    std::map<std::string, std::string> by_texts;  // the key of a valid point, or of an invalid one
    std::set<std::string> valid;
    std::string all;
    for (const Point& point : study.points()) {
        std::string texts;
        for (const nlohmann::json& value : point.values) {
            if (!value.is_number() && !value.is_boolean()) texts += value.dump() + "\n";
        }
        if (!valid.contains(texts)) {
            const PlannedPoint plan = planned(study, point);
            by_texts[texts] += plan.key;
            if (plan.error.empty()) valid.insert(texts);
        }
        all += fmt::format("{} {}\n", point.number, settings_json(study, point));
    }
    for (const auto& [texts, keys] : by_texts) text += keys;
    return run::hash_of(text + all);
}

/// The runs that this process has claimed and not finished; gives them back at the end.
class Claims {
public:
    explicit Claims(Database& database) : database_(database) {}
    Claims(const Claims&) = delete;
    Claims& operator=(const Claims&) = delete;
    ~Claims() {
        try {
            for (const auto& [number, claim] : open_) database_.give_back(claim.key);
        } catch (const UserError&) {
            return;  // the next process sees that this one has ended
        }
    }

    struct Open {
        std::string key;
        Clock::time_point begin;
    };

    void add(const Claim& claim) { open_[claim.number] = {.key = claim.key, .begin = Clock::now()}; }
    void begin(std::uint64_t number) { open_.at(number).begin = Clock::now(); }
    Open take(std::uint64_t number) {
        const auto found = open_.find(number);
        Open open = std::move(found->second);
        open_.erase(found);
        return open;
    }

private:
    Database& database_;
    std::map<std::uint64_t, Open> open_;
};

/// Runs of before may have other metrics.
void compute_metrics_again(const Metrics& metrics, Database& database, const std::set<std::string>& wanted) {
    for (const std::string& key : database.done_runs()) {
        const nlohmann::ordered_json report = StoredRecord::of_run(database, key).report();
        try {
            database.set_metrics(key, metrics_json(metrics, report));
        } catch (const ConfigError&) {
            if (wanted.contains(key)) throw;
            database.set_metrics(key, "{}");  // of no point now; a study that has it computes them again
        }
    }
}

constexpr std::string_view metrics_note = "metrics";

bool goes_on(const Study& study, Database& database, const PlanNotes& notes) {
    return database.note(metrics_note) == study.metrics().definitions() && database.resume(notes.fingerprint);
}

PlanNotes notes_of(const Study& study) {
    return {.study = json_text(study.description()), .fingerprint = fingerprint(study)};
}

}  // namespace

bool is_planned(const Study& study, Database& database) {
    return goes_on(study, database, notes_of(study));
}

void plan(const Study& study, Database& database, const std::function<void(std::size_t)>& progress) {
    const PlanNotes notes = notes_of(study);
    if (goes_on(study, database, notes)) {
        database.set_note(study_note, notes.study);
        return;
    }
    std::vector<PlannedPoint> points(study.points().size());
    run::on_all_cores(
        points.size(), [&](std::size_t i) { points[i] = planned(study, study.points()[i]); }, progress);
    if (std::ranges::none_of(points, [](const PlannedPoint& point) { return point.error.empty(); })) {
        throw ConfigError(points.front().error);
    }
    std::vector<std::string> metrics;
    for (const Metric& metric : study.metrics().all()) metrics.push_back(metric.name);
    database.plan(points, study.keys(), metrics, notes);
    const std::string definitions = study.metrics().definitions();
    if (database.note(metrics_note) == definitions) return;
    std::set<std::string> wanted;
    for (const PlannedPoint& point : points) wanted.insert(point.key);
    compute_metrics_again(study.metrics(), database, wanted);
    database.set_note(metrics_note, definitions);
}

run::RunSpec claimed_spec(const Study& study, Database& database, const Point& point,
                          const std::string& key) {
    try {
        run::RunSpec spec = study.spec_of(point);
        if (run_key(spec) == key) return spec;
    } catch (const UserError& error) {
        if (key_of_error(settings_json(study, point), error.what()) == key) throw;
    }
    database.forget_plan();
    throw FilesChanged(
        fmt::format("{}: a file that it reads has changed since it began: give the command again",
                    study.definition().file));
}

namespace {

class PointRunner {
public:
    PointRunner(const Study& study, Database& database, const RunPoints& how)
        : study_(study),
          database_(database),
          how_(how),
          most_claims_(8 * (how.workers == 0 ? run::cores() : how.workers)),
          claims_(database),
          pool_(how.workers == 0 ? run::cores() : how.workers,
                [&](const run::RunRecord& record) {
                    return run::to_bytes(answer_of(study.metrics(), record));
                }),
          begin_(Clock::now()) {
        for (const Point& point : study.points()) by_number_.emplace(point.number, &point);
    }

    void run() {
        do {
            progress_.counts = database_.counts();
            pool_.run([&] { return more(); },
                      [&](std::uint64_t number, std::string answer) { done(number, std::move(answer)); },
                      [&](pid_t worker, const run::Task& task) {
                          claims_.begin(task.number);
                          if (how_.sent) how_.sent(worker, task);
                      },
                      [&] { tick(); });
        } while (wait_for_others());
    }

private:
    bool wants_stop() const { return how_.stop && how_.stop(); }

    void tell() {
        progress_.seconds = seconds_since(begin_);
        if (how_.progress) how_.progress(progress_);
        if (wants_stop()) pool_.stop();
    }

    std::vector<run::Task> more() {
        std::vector<run::Task> tasks;
        if (wants_stop()) return tasks;
        // Enough that a worker finds one whose network it has compiled.
        const std::vector<Claim> claimed = database_.claim(most_claims_);
        for (const Claim& claim : claimed) claims_.add(claim);
        for (const Claim& claim : claimed) {
            try {
                tasks.push_back(
                    {.number = claim.number,
                     .spec = claimed_spec(study_, database_, *by_number_.at(claim.number), claim.key)});
            } catch (const FilesChanged&) {
                throw;
            } catch (const UserError& error) {  // a point that is no valid run, and is to be tried again
                database_.finish(claims_.take(claim.number).key, {.error = error.what()});
                progress_.counts.end_one(true);
            }
        }
        return tasks;
    }

    void done(std::uint64_t number, std::string answer) {
        if (answer.front() == run::died_message) {
            database_.give_back(claims_.take(number).key, answer.substr(1));
            return;
        }
        RunResult result =
            result_of(std::move(answer), [&] { return study_.spec_of(*by_number_.at(number)); });
        progress_.counts.end_one(!result.error.empty());
        const Claims::Open open = claims_.take(number);
        result.wall_seconds = seconds_since(open.begin);
        database_.finish(open.key, result);
        ++progress_.finished;
        tell();
    }

    void tick() {
        constexpr double seconds_between_beats = 10.0;
        if (seconds_since(last_beat_) > seconds_between_beats) {
            last_beat_ = Clock::now();
            database_.beat();
            progress_.counts = database_.counts();  // others may work on the study too
        }
        tell();
    }

    /// Waits while other processes run points of the study. True if there are points again: of one that died.
    bool wait_for_others() {
        constexpr auto pause = std::chrono::milliseconds(200);
        while (!wants_stop()) {
            database_.free_points_of_the_dead();
            progress_.counts = database_.counts();
            if (progress_.counts.pending > 0) return true;
            if (progress_.counts.running == 0) return false;
            tick();
            std::this_thread::sleep_for(pause);
        }
        return false;
    }

    const Study& study_;
    Database& database_;
    const RunPoints& how_;
    const std::uint64_t most_claims_;
    std::unordered_map<std::uint64_t, const Point*> by_number_;
    Claims claims_;
    run::WorkerPool pool_;
    Progress progress_;
    const Clock::time_point begin_;
    Clock::time_point last_beat_ = begin_;
};

}  // namespace

void run_points(const Study& study, Database& database, const RunPoints& how) {
    PointRunner(study, database, how).run();
}

}  // namespace systole::sweep
