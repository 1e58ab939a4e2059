#include "sim/study/sweep/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hw/base/user_error.h"
#include "hw/machine/config_error.h"
#include "sim/study/sweep/command_line.h"
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
    throw ConfigError(
        fmt::format("{}: {} is no metric of the study{}", place, name, suggestion(name, known)));
}

std::size_t Answer::key(std::string_view name, std::string_view place) const {
    const auto found = std::ranges::find(keys, name);
    if (found == keys.end()) {
        throw ConfigError(
            fmt::format("{}: {} is no key that the study varies{}", place, name, suggestion(name, keys)));
    }
    return static_cast<std::size_t>(found - keys.begin());
}

Answer read_answer(Database& database) {
    const std::string description = database.note(study_note);
    if (description.empty()) throw ConfigError("the file of results has no study yet");
    const auto study = nlohmann::ordered_json::parse(description);
    Answer answer{.study = study.at("study"),
                  .keys = study.at("keys"),
                  .axes = study.at("axes"),
                  .metrics = read_metrics(study.at("metrics")),
                  .command = study.at("command")};
    for (const std::string& key : study.at("followers").get<std::vector<std::string>>()) {
        answer.followers.push_back(answer.key(key, "zip"));
    }
    for (const StoredPoint& stored : database.points()) {
        AnswerRow row{.number = stored.number, .state = stored.state, .error = stored.error};
        const auto settings = nlohmann::json::parse(stored.settings);
        for (const std::string& key : answer.keys)
            row.values.push_back(settings.value(key, nlohmann::json()));
        row.metrics.resize(answer.metrics.size());
        if (stored.state == "done") {
            const auto metrics = nlohmann::json::parse(stored.metrics);
            for (std::size_t i = 0; i < row.metrics.size(); ++i) {
                const auto found = metrics.find(answer.metrics[i].name);
                if (found != metrics.end() && found->is_number()) row.metrics[i] = found->get<double>();
            }
        }
        answer.rows.push_back(std::move(row));
    }
    return answer;
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
