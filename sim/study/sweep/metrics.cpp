#include "sim/study/sweep/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "base/user_error.h"
#include "hw/machine/config_error.h"
#include "sim/run/record/fields.h"
#include "sim/study/sweep/database.h"
#include "sim/view/report/figures.h"

namespace systole::sweep {

using Json = nlohmann::ordered_json;
using machine::ConfigError;
using report::find_path;

std::span<const Metric> common_metrics() {
    static const std::vector<Metric> all{
        {"cycles", "cycles", "cycles", "of the whole run, in the core's clock", Better::Lower},
        {"latency_ms", "latency_ms", "ms",
         "from the first byte of a batch into the chip to its last byte out, mean of the batches",
         Better::Lower},
        {"latency_max_ms", "latency_max_ms", "ms", "the longest of these latencies", Better::Lower},
        {"interval_ms", "interval_ms", "ms",
         "by which batches follow each other: the run's seconds over its batches", Better::Lower},
        {"inferences_per_second", "inferences_per_second", "1/s", "inferences over the run's seconds",
         Better::Higher},
        {std::string(host_share_metric), "host_share.macs_share", "",
         "multiply-accumulates that run on the host instead of the chip; none where it is empty",
         Better::Lower},
        {"peak_share", "tops.achieved / tops.peak", "",
         "the operations that the network needs over those that all cells could have done", Better::Higher},
        {"fill", "bounds.fill", "", "how much of the array the mapping fills while the array works",
         Better::Higher},
        {"watts", "energy.watts", "W", "mean power of chip and weight memory during the run", Better::Lower},
        {"joules_per_inference", "energy.joules_per_inference", "J", "energy of the run over its inferences",
         Better::Lower},
        {"p99_ms", "requests.p99_ms", "ms", "latency of 99 of 100 requests that arrive at random (arrivals)",
         Better::Lower},
        {"requests_within_limit", "requests.most_per_second", "1/s",
         "most requests a second of which 99 of 100 are within latency_limit_ms", Better::Higher},
        {"area_mm2", "area.mm2", "mm2", "area of the die by docs/area.md, a model with one published anchor",
         Better::Lower},
    };
    return all;
}

std::optional<double> share_of(const Metric& metric, std::optional<double> value) {
    constexpr std::array<std::string_view, 3> shares{host_share_metric, "peak_share", "fill"};
    constexpr double percent = 100.0;
    if (!value) return std::nullopt;
    if (metric.unit == "%") return *value / percent;
    return std::ranges::find(shares, metric.name) == shares.end() ? std::nullopt : value;
}

Json to_json(std::span<const Metric> metrics) {
    Json list = Json::array();
    for (const Metric& metric : metrics) {
        list.push_back({{"name", metric.name},
                        {"unit", metric.unit},
                        {"formula", metric.formula},
                        {"meaning", metric.meaning},
                        {"better", names_of(Better())[static_cast<std::size_t>(metric.better)]}});
    }
    return list;
}

std::vector<Metric> read_metrics(const Json& json) {
    std::vector<Metric> metrics;
    for (const Json& each : json) {
        metrics.push_back({.name = each.at("name"),
                           .formula = each.at("formula"),
                           .unit = each.at("unit"),
                           .meaning = each.at("meaning"),
                           .better = run::fields::named<Better>(each.at("better").get<std::string>())});
    }
    return metrics;
}

namespace {

/// The paths of report.json that may be meant: for a suggestion.
void add_paths(const Json& value, const std::string& path, std::vector<std::string>& paths) {
    if (value.is_object()) {
        for (const auto& [key, inner] : value.items()) {
            if (path.empty() && key == "configuration") continue;
            add_paths(inner, path.empty() ? key : fmt::format("{}.{}", path, key), paths);
        }
    } else if (value.is_number() || value.is_boolean()) {
        paths.push_back(path);
    }
}

/// The place of a key of run or machine in the report.
const Json* find_key(const Json& report, std::string_view key) {
    constexpr std::string_view prefix = "machine.";
    const auto configuration = report.find("configuration");
    if (configuration == report.end()) return nullptr;
    const bool is_machine = key.starts_with(prefix);
    const auto part = configuration->find(is_machine ? "machine" : "run");
    if (part == configuration->end()) return nullptr;
    return find_path(*part, is_machine ? key.substr(prefix.size()) : key);
}

/// Whether the path is one of the comparison with a baseline of the run, which is not compared, whatever the
/// reason: the report says it.
bool lacks_comparison(const Json& report, std::string_view path) {
    constexpr std::string_view prefix = "comparison.";
    const auto comparison = report.find("comparison");
    if (!path.starts_with(prefix) || comparison == report.end() || !comparison->empty()) return false;
    const Json* const baselines = find_path(report, "configuration.baselines");
    if (baselines == nullptr || !baselines->is_array()) return false;
    path.remove_prefix(prefix.size());
    return find_path(*baselines, path.substr(0, path.find('.'))) != nullptr;
}

/// Removes "max:" or "min:" from the begin of a formula.
Better take_direction(std::string& formula) {
    const bool is_max = formula.starts_with("max:");
    if (!is_max && !formula.starts_with("min:")) return Better::Neither;
    formula.erase(0, 4);
    formula.erase(0, std::min(formula.find_first_not_of(' '), formula.size()));
    return is_max ? Better::Higher : Better::Lower;
}

}  // namespace

Metrics::Metrics(std::vector<Metric> own, std::string file) : file_(std::move(file)) {
    const std::span<const Metric> common = common_metrics();
    all_.assign(common.begin(), common.end());
    for (Metric& metric : own) {
        const std::string& name = metric.name;
        const bool is_name =
            !name.empty() &&
            name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
                std::string::npos &&
            (name[0] < '0' || name[0] > '9');
        if (!is_name) {
            throw ConfigError(
                fmt::format("{}: metrics.{}: a name has letters, digits and _ alone", file_, name));
        }
        const auto known =
            std::ranges::find_if(all_, [&](const Metric& other) { return is_same_column(other.name, name); });
        if (known != all_.end()) {
            throw ConfigError(fmt::format("{}: metrics.{}: there is a metric {}", file_, name, known->name));
        }
        metric.better = take_direction(metric.formula);
        all_.push_back(std::move(metric));
    }
    for (const Metric& metric : all_) {
        try {
            formulas_.emplace_back(metric.formula);
        } catch (const ExpressionError& error) {
            throw ConfigError(fmt::format("{}: metrics.{} is {}", file_, metric.name, error.what()));
        }
    }
    order_own();
}

/// Depth first, so that each metric comes after those in its formula.
void Metrics::order_own() {
    const std::size_t common = common_metrics().size();
    enum class State : std::uint8_t { New, Open, Done };
    std::vector<State> states(all_.size(), State::New);
    const auto visit = [&](const auto& self, std::size_t index) -> void {
        if (states[index] == State::Done) return;
        if (states[index] == State::Open) {
            throw ConfigError(
                fmt::format("{}: metrics.{}: its formula leads back to itself", file_, all_[index].name));
        }
        states[index] = State::Open;
        if (index >= common) {
            for (const std::string& name : formulas_[index].names()) {
                const auto found = std::ranges::find(all_, name, &Metric::name);
                if (found != all_.end()) self(self, static_cast<std::size_t>(found - all_.begin()));
            }
        }
        states[index] = State::Done;
        order_.push_back(index);
    };
    for (std::size_t index = 0; index < all_.size(); ++index) visit(visit, index);
}

bool Metrics::need_values() const {
    constexpr std::array<std::string_view, 3> of_answers{"accuracy", "float_reference", "predictions"};
    return std::ranges::any_of(formulas_, [&](const Expression& formula) {
        return std::ranges::any_of(formula.names(), [&](const std::string& name) {
            const std::string first = name.substr(0, name.find('.'));
            return std::ranges::find(of_answers, first) != of_answers.end();
        });
    });
}

std::optional<double> Metrics::value_of(const std::string& name, std::size_t of, const Json& report,
                                        std::span<const std::optional<double>> known) const {
    if (of >= common_metrics().size()) {
        const auto metric = std::ranges::find(all_, name, &Metric::name);
        if (metric != all_.end()) return known[static_cast<std::size_t>(metric - all_.begin())];
        if (const Json* key = find_key(report, name); key != nullptr && key->is_number()) {
            return key->get<double>();
        }
    }
    const Json* const found = find_path(report, name);
    if (found == nullptr && lacks_comparison(report, name)) return std::nullopt;
    if (found == nullptr) {
        std::vector<std::string> paths;
        add_paths(report, "", paths);
        for (const Metric& metric : all_) paths.push_back(metric.name);
        throw ConfigError(fmt::format("{}: metrics.{} names {}, which is no path of report.json{}", file_,
                                      all_[of].name, name, did_you_mean(nearest(name, paths))));
    }
    if (found->is_null()) return std::nullopt;
    if (found->is_boolean()) return found->get<bool>() ? 1.0 : 0.0;
    if (!found->is_number()) {
        throw ConfigError(fmt::format("{}: metrics.{} names {}, which is no number in report.json", file_,
                                      all_[of].name, name));
    }
    return found->get<double>();
}

std::vector<std::optional<double>> Metrics::values_of(const Json& report) const {
    std::vector<std::optional<double>> values(all_.size());
    for (const std::size_t index : order_) {
        std::vector<double> operands;
        bool complete = true;
        for (const std::string& name : formulas_[index].names()) {
            const std::optional<double> operand = value_of(name, index, report, values);
            complete = complete && operand.has_value();
            operands.push_back(operand.value_or(0.0));
        }
        if (!complete) continue;
        try {
            values[index] = formulas_[index].value(operands);
        } catch (const ExpressionError&) {
            values[index].reset();  // 1 / 0: the point has no such number
        }
    }
    return values;
}

std::string Metrics::definitions() const {
    std::string text;
    for (const Metric& metric : all_) text += fmt::format("{} = {}\n", metric.name, metric.formula);
    return text;
}

}  // namespace systole::sweep
