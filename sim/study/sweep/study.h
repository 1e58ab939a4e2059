#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "sim/run/record/spec.h"
#include "sim/run/run_config.h"
#include "sim/study/sweep/metrics.h"
#include "sim/study/sweep/study_file.h"

namespace systole::sweep {

/// One run of a study.
struct Point {
    std::uint64_t number = 0;            ///< from 1, of all points of the axes; equal in each part of a study
    std::vector<nlohmann::json> values;  ///< of Study::keys
};

/// The base run's keys, which formulas read where no axis has them.
class BaseValues;

/// The points of a study: the grid of its axes, or a random sample, without those that `where` leaves out.
class Study {
public:
    /// Throws ConfigError where the study breaks a rule; nothing has run then.
    explicit Study(StudyDefinition definition);
    ~Study();
    Study(const Study&) = delete;
    Study& operator=(const Study&) = delete;

    const StudyDefinition& definition() const { return definition_; }
    const std::string& name() const { return definition_.name; }
    /// The keys of the axes, then the derived ones.
    const std::vector<std::string>& keys() const { return keys_; }
    /// Without the points that `where` leaves out.
    const std::vector<Point>& points() const { return points_; }
    const Metrics& metrics() const { return metrics_; }
    /// Whether the points compute no values.
    bool timing_only() const { return timing_only_; }

    /// Throws ConfigError where the point is no valid run.
    run::RunSpec spec_of(const Point& point) const;
    /// What answers say of the study besides its points: sim/study/sweep/answer.h reads it.
    nlohmann::ordered_json description() const;

private:
    /// Axes that go through their values together; most have one.
    struct Group {
        std::vector<std::size_t> axes;
        std::size_t size = 0;  ///< values
    };

    std::vector<Group> groups() const;
    void check_keys() const;
    void check_metric_names() const;
    std::string blamed(const std::string& message) const;
    void order_derived();
    void make_grid();
    void draw_sample();
    /// Derives the other keys and appends the point, unless `where` leaves it out.
    void add(std::uint64_t number, std::vector<nlohmann::json> values);
    /// The value of a formula of keys at a point.
    double value_of(const Expression& formula, const std::vector<nlohmann::json>& values,
                    const std::string& place) const;
    std::vector<run::Setting> settings_of(const Point& point) const;
    /// The axes that a condition names, itself or by keys that are derived from them.
    std::set<std::string> axes_of(const Expression& formula) const;

    StudyDefinition definition_;
    Metrics metrics_;
    std::vector<std::string> keys_;
    std::vector<Expression> derived_;  ///< in the order of the last keys
    std::vector<Expression> conditions_;
    std::vector<Point> points_;
    std::uint64_t left_out_ = 0;
    bool timing_only_ = false;
    std::unique_ptr<BaseValues> base_;
};

}  // namespace systole::sweep
