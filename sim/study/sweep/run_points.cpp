#include "sim/study/sweep/run_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hw/base/user_error.h"
#include "hw/machine/config_error.h"
#include "sim/run/execute/executor.h"
#include "sim/run/execute/worker.h"
#include "sim/run/record/bytes.h"
#include "sim/run/record/content.h"
#include "sim/run/record/record.h"
#include "sim/study/sweep/compression.h"
#include "sim/study/sweep/point_answer.h"
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
    return settings.dump();
}

PlannedPoint planned(const Study& study, const Point& point) {
    PlannedPoint plan{.number = point.number, .settings = settings_json(study, point)};
    try {
        plan.key = run::key_of(study.spec_of(point));
    } catch (const UserError& error) {
        plan.error = error.what();
        plan.key = run::hash_of(plan.settings + plan.error);
    }
    return plan;
}

/// A text that is the same only if all points have the same specs as before. Points that differ in numbers
/// alone read the same files; the spec of one of them knows their contents.
std::string fingerprint(const Study& study) {
    std::string text = run::hash_of(study.metrics().definitions());
    std::map<std::string, const Point*> by_texts;
    std::string all;
    for (const Point& point : study.points()) {
        std::string texts;
        for (const nlohmann::json& value : point.values) {
            if (!value.is_number() && !value.is_boolean()) texts += value.dump() + "\n";
        }
        by_texts.emplace(texts, &point);
        all += fmt::format("{} {}\n", point.number, settings_json(study, point));
    }
    for (const auto& [texts, point] : by_texts) text += planned(study, *point).key;
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

}  // namespace

std::string stored_record(Database& database, std::uint64_t point) {
    std::optional<std::string> stored = database.record(point);
    if (!stored) throw ConfigError(fmt::format("point {} has no record: it is not done", point));
    return *std::move(stored);
}

run::RunRecord record_of(Database& database, std::uint64_t point) {
    return run::read_record(expanded(stored_record(database, point)));
}

void plan(const Study& study, Database& database) {
    constexpr std::string_view name = "fingerprint";
    const std::string now = fingerprint(study);
    database.set_note(study_note, study.description().dump());
    if (database.note(name) == now) return;
    std::vector<PlannedPoint> points;
    points.reserve(study.points().size());
    for (const Point& point : study.points()) points.push_back(planned(study, point));
    if (std::ranges::none_of(points, [](const PlannedPoint& point) { return point.error.empty(); })) {
        throw ConfigError(points.front().error);
    }
    std::vector<std::string> metrics;
    for (const Metric& metric : study.metrics().all()) metrics.push_back(metric.name);
    database.plan(points, study.keys(), metrics);
    // Runs of before may have other metrics.
    const std::string definitions = study.metrics().definitions();
    if (database.note("metrics") != definitions) {
        for (const StoredPoint& point : database.points()) {
            if (point.state != "done") continue;
            const run::RunRecord record = record_of(database, point.number);
            database.set_metrics(point.number,
                                 metrics_json(study.metrics(), report::to_json(report::make_report(record))));
        }
        database.set_note("metrics", definitions);
    }
    database.set_note(name, now);
}

void run_points(const Study& study, Database& database, const RunPoints& how) {
    const std::size_t workers = how.workers == 0 ? run::cores() : how.workers;
    std::unordered_map<std::uint64_t, const Point*> by_number;
    for (const Point& point : study.points()) by_number.emplace(point.number, &point);

    Claims claims(database);
    run::WorkerPool pool(workers, [&](const run::RunRecord& record) {
        return run::to_bytes(answer_of(study.metrics(), record));
    });
    Progress progress{.counts = database.counts()};
    const Clock::time_point begin = Clock::now();
    Clock::time_point last_beat = begin;
    const auto tell = [&] {
        progress.seconds = seconds_since(begin);
        if (how.progress) how.progress(progress);
        if (how.stop && how.stop()) pool.stop();
    };
    const auto more = [&] {
        std::vector<run::Task> tasks;
        if (how.stop && how.stop()) return tasks;
        // Enough that a worker finds one whose network it has compiled.
        for (const Claim& claim : database.claim(8 * workers)) {
            try {
                tasks.push_back({.number = claim.number, .spec = study.spec_of(*by_number.at(claim.number))});
                claims.add(claim);
            } catch (const UserError& error) {  // a point that is no valid run, and is to be tried again
                database.finish(claim.key, {.error = error.what()});
                ++progress.counts.failed;
            }
        }
        return tasks;
    };
    const auto done = [&](std::uint64_t number, std::string answer) {
        if (answer.front() == run::died_message) {
            database.give_back(claims.take(number).key, answer.substr(1));
            return;
        }
        RunResult result = result_of(std::move(answer), [&] { return study.spec_of(*by_number.at(number)); });
        ++(result.error.empty() ? progress.counts.done : progress.counts.failed);
        const Claims::Open open = claims.take(number);
        result.wall_seconds = seconds_since(open.begin);
        database.finish(open.key, result);
        ++progress.finished;
        progress.counts.pending -= std::min<std::uint64_t>(progress.counts.pending, 1);
        tell();
    };
    const auto tick = [&] {
        constexpr double seconds_between_beats = 10.0;
        if (seconds_since(last_beat) > seconds_between_beats) {
            last_beat = Clock::now();
            database.beat();
            progress.counts = database.counts();  // others may work on the study too
        }
        tell();
    };
    const auto sent = [&](pid_t worker, const run::Task& task) {
        claims.begin(task.number);
        if (how.sent) how.sent(worker, task);
    };
    pool.run(more, done, sent, tick);
}

}  // namespace systole::sweep
