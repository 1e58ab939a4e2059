#include "sim/study/sweep/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/user_error.h"
#include "hw/machine/config_error.h"
#include "sim/study/sweep/command_line.h"
#include "sim/study/sweep/expression.h"
#include "sim/study/sweep/point_answer.h"
#include "sim/view/report/numbers.h"

namespace systole::sweep {

using machine::ConfigError;

std::uint64_t Answer::count(std::string_view state) const {
    return static_cast<std::uint64_t>(std::ranges::count(rows, state, &AnswerRow::state));
}

std::size_t Answer::metric(std::string_view name, std::string_view place) const {
    std::vector<std::string> known;
    for (const Metric& metric : metrics) {
        if (metric.name == name) return known.size();
        known.push_back(metric.name);
    }
    const std::string_view or_key = place == "--subject-to" ? ", nor a key that it varies" : "";
    throw ConfigError(
        fmt::format("{}: {} is no metric of the study{}{}", place, name, or_key, suggestion(name, known)));
}

std::size_t Answer::key(std::string_view name, std::string_view place) const {
    const auto found = std::ranges::find(keys, name);
    if (found == keys.end()) {
        throw ConfigError(
            fmt::format("{}: {} is no key that the study varies{}", place, name, suggestion(name, keys)));
    }
    return static_cast<std::size_t>(found - keys.begin());
}

Answer answer_without_rows(const nlohmann::ordered_json& description) {
    Answer answer{.study = description.at("study"),
                  .keys = description.at("keys"),
                  .axes = description.at("axes"),
                  .metrics = read_metrics(description.at("metrics")),
                  .command = description.at("command")};
    for (const auto& [follower, leader] : description.at("followers").items()) {
        answer.followers.emplace(answer.key(follower, "zip"), answer.key(leader.get<std::string>(), "zip"));
    }
    // Files of earlier versions do not have these.
    for (const auto& named : description.value("conditions", nlohmann::ordered_json::array())) {
        std::vector<std::size_t>& axes = answer.conditions.emplace_back();
        for (const auto& key : named) axes.push_back(answer.key(key.get<std::string>(), "where"));
    }
    const auto ends = description.find("ends");
    if (ends == description.end()) return answer;
    for (const auto& [key, pair] : ends->items()) {
        const auto number = [&, &of = pair](const char* name) {
            return of.contains(name) ? std::optional(of.at(name).template get<double>()) : std::nullopt;
        };
        answer.ends[answer.key(key, "ends")] = {.least = number("least"), .most = number("most")};
    }
    return answer;
}

std::vector<std::size_t> workload_keys(const Answer& answer) {
    constexpr std::array<std::string_view, 4> names{"model", "program", "input", "random_input"};
    std::vector<std::size_t> keys;
    for (std::size_t i = 0; i < answer.keys.size(); ++i) {
        if (std::ranges::find(names, answer.keys[i]) != names.end()) keys.push_back(i);
    }
    return keys;
}

namespace {

[[noreturn]] void throw_damaged(const Database& database) {
    throw ConfigError(database.file() +
                      ": the file of results is damaged, or another version of the simulator wrote it");
}

Answer answer_of_rows(Database& database, const std::string& description) {
    Answer answer = answer_without_rows(nlohmann::ordered_json::parse(description));
    for (const StoredPoint& stored : database.points()) {
        AnswerRow row{.number = stored.number, .state = stored.state, .error = stored.error};
        const auto settings = nlohmann::json::parse(stored.settings);
        for (const std::string& key : answer.keys) row.values.push_back(settings.at(key));
        row.metrics.resize(answer.metrics.size());
        if (stored.state == "done") {
            const auto metrics = nlohmann::json::parse(stored.metrics);
            if (!metrics.is_object()) throw_damaged(database);
            for (std::size_t i = 0; i < row.metrics.size(); ++i) {
                const auto found = metrics.find(answer.metrics[i].name);
                if (found != metrics.end() && found->is_number()) {
                    row.metrics[i] = found->get<double>();
                }
            }
            const auto left_out = metrics.find(left_out_key);
            if (left_out != metrics.end()) row.left_out = *left_out;
        }
        answer.rows.push_back(std::move(row));
    }
    return answer;
}

/// What a function reads from the texts of a database. Throws ConfigError where they are not those of a
/// study.
template <class Function>
auto undamaged(const Database& database, const Function& read) {
    try {
        return read();
    } catch (const nlohmann::json::exception&) {
        throw_damaged(database);
    }
}

}  // namespace

Answer read_answer(Database& database) {
    const std::string description = database.note(study_note);
    if (description.empty()) throw ConfigError(database.file() + ": the file of results has no study yet");
    return undamaged(database, [&] { return answer_of_rows(database, description); });
}

std::vector<std::string> keys_of_study(Database& database) {
    const std::string description = database.note(study_note);
    if (description.empty()) return {};
    return undamaged(database, [&] {
        return nlohmann::json::parse(description).at("keys").get<std::vector<std::string>>();
    });
}

Answer subject_to(const Answer& answer, std::span<const std::string> conditions) {
    constexpr const char* place = "--subject-to";
    /// A formula, and where each of its operands is: a key, or a metric.
    struct Condition {
        Expression formula;
        std::vector<std::pair<bool, std::size_t>> operands;
    };
    std::vector<Condition> all;
    for (const std::string& text : conditions) {
        try {
            Condition& condition = all.emplace_back(Condition{.formula = Expression(text), .operands = {}});
            for (const std::string& name : condition.formula.names()) {
                const bool is_key = std::ranges::find(answer.keys, name) != answer.keys.end();
                condition.operands.emplace_back(
                    is_key, is_key ? answer.key(name, place) : answer.metric(name, place));
            }
        } catch (const ExpressionError& error) {
            throw ConfigError(fmt::format("{} is {}", place, error.what()));
        }
    }
    const auto holds = [&](const AnswerRow& row, const Condition& condition) {
        std::vector<double> operands;
        for (const auto& [is_key, index] : condition.operands) {
            if (is_key && !row.values[index].is_number()) {
                throw ConfigError(fmt::format("{}: {} is {}; a formula is of numbers", place,
                                              answer.keys[index], row.values[index].dump()));
            }
            if (!is_key && !row.metrics[index]) return false;
            operands.push_back(is_key ? row.values[index].get<double>() : *row.metrics[index]);
        }
        try {
            return condition.formula.value(operands) != 0.0;
        } catch (const ExpressionError& error) {
            throw ConfigError(fmt::format("{} is {}", place, error.what()));
        }
    };
    Answer kept = answer;
    std::erase_if(kept.rows, [&](const AnswerRow& row) {
        return row.state != "done" ||
               !std::ranges::all_of(all, [&](const Condition& condition) { return holds(row, condition); });
    });
    return kept;
}

std::string command_of(const Answer& answer, const AnswerRow& row) {
    std::string command = answer.command;
    for (std::size_t i = 0; i < answer.keys.size(); ++i) command += set_option(answer.keys[i], row.values[i]);
    return command;
}

nlohmann::ordered_json to_json(const Answer& answer) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const AnswerRow& row : answer.rows) {
        nlohmann::ordered_json point{{"point", row.number}};
        nlohmann::ordered_json& settings = point["settings"] = nlohmann::ordered_json::object();
        for (std::size_t i = 0; i < answer.keys.size(); ++i) settings[answer.keys[i]] = row.values[i];
        point["state"] = row.state;
        if (row.state == "done") {
            nlohmann::ordered_json& metrics = point["metrics"] = nlohmann::ordered_json::object();
            for (std::size_t i = 0; i < answer.metrics.size(); ++i) {
                nlohmann::ordered_json& value = metrics[answer.metrics[i].name];
                if (row.metrics[i]) value = *row.metrics[i];
            }
        }
        if (!row.error.empty()) point["error"] = row.error;
        points.push_back(std::move(point));
    }
    return {{"schema", "sim.study_answer/1"},     {"study", answer.study},     {"keys", answer.keys},
            {"metrics", to_json(answer.metrics)}, {"command", answer.command}, {"points", std::move(points)}};
}

std::string number_text(double value, std::string_view unit) {
    if (unit == "J" || unit == "W") return report::si(value, unit);
    const double size = std::abs(value);
    if (size >= 1000.0 && size < 1e15) {
        const std::string digits = report::grouped(static_cast<std::uint64_t>(std::llround(size)));
        return value < 0.0 ? "-" + digits : digits;
    }
    return fmt::format("{:.4g}", value);
}

std::string settings_text(const Answer& answer, const AnswerRow& row) {
    std::string text;
    for (std::size_t i = 0; i < answer.keys.size(); ++i) {
        const nlohmann::json& value = row.values[i];
        text += fmt::format("{}{}={}", i == 0 ? "" : ", ", answer.keys[i],
                            value.is_string() ? value.get<std::string>() : value.dump());
    }
    return text;
}

std::string to_csv(const Answer& answer) {
    std::string text = "point";
    for (const std::string& key : answer.keys) text += "," + tables::csv_field(key);
    text += ",state";
    for (const Metric& metric : answer.metrics) text += "," + tables::csv_field(metric.name);
    text += ",error\r\n";
    for (const AnswerRow& row : answer.rows) {
        text += fmt::format("{}", row.number);
        for (const nlohmann::json& value : row.values) {
            text += "," + tables::csv_field(value.is_string() ? value.get<std::string>() : value.dump());
        }
        text += "," + row.state;
        for (const std::optional<double>& value : row.metrics) {
            text += value ? fmt::format(",{}", *value) : ",";
        }
        text += "," + tables::csv_field(row.error) + "\r\n";
    }
    return text;
}

}  // namespace systole::sweep
