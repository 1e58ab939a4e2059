#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/study/sweep/expression.h"

namespace systole::sweep {

/// Which way a metric is better.
enum class Better : std::uint8_t { Lower, Higher, Neither };

constexpr std::array<std::string_view, 3> names_of(Better) {
    return {"lower", "higher", "neither"};
}

/// A number of a point, computed from its report.json.
struct Metric {
    std::string name;
    std::string formula;       ///< of paths in report.json, keys and other metrics
    std::string unit = {};     ///< "ms", "J"; empty for shares, ratios and what has none given
    std::string meaning = {};  ///< a sentence, or empty
    Better better = Better::Neither;
};

nlohmann::ordered_json to_json(std::span<const Metric> metrics);
/// The reverse.
std::vector<Metric> read_metrics(const nlohmann::ordered_json& json);

/// The metrics that every study has.
std::span<const Metric> common_metrics();
/// One of them, which has a value only where layers leave the chip.
constexpr std::string_view host_share_metric = "host_share";

/// The part of a whole that a value of the metric is, if it is one: changes of shares are told in percentage
/// points. A metric of a study is one if its unit is "%".
std::optional<double> share_of(const Metric& metric, std::optional<double> value);

/// A name and its formula, in the order of the study file.
using NamedFormula = std::pair<std::string, std::string>;

/// The metrics of a study: the common ones, then its own.
class Metrics {
public:
    /// A formula may begin with "max:" or "min:", its better way. `file` leads the messages. Throws
    /// ConfigError where a formula is broken, a name is taken, or formulas go in a circle.
    Metrics(std::vector<Metric> own, std::string file);

    const std::vector<Metric>& all() const { return all_; }
    /// Whether a metric is about the network's answers, which a timing-only run does not have.
    bool need_values() const;
    /// A value for each metric; absent where the report has null there, or the formula has no value. Throws
    /// ConfigError where the report has no such path, or a text there.
    std::vector<std::optional<double>> values_of(const nlohmann::ordered_json& report) const;
    /// The definitions as text: equal texts mean equal values.
    std::string definitions() const;

private:
    std::optional<double> value_of(const std::string& name, std::size_t of,
                                   const nlohmann::ordered_json& report,
                                   std::span<const std::optional<double>> known) const;
    void order_own();

    std::string file_;
    std::vector<Metric> all_;
    std::vector<Expression> formulas_;
    std::vector<std::size_t> order_;  ///< each after those that its formula names
};

}  // namespace systole::sweep
