#include "sim/study/sweep/point_answer.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "hw/machine/config_error.h"
#include "sim/run/execute/worker.h"
#include "sim/run/record/bytes.h"
#include "sim/study/sweep/axis.h"
#include "sim/study/sweep/command_line.h"
#include "sim/study/sweep/compression.h"
#include "sim/view/report/report.h"

namespace systole::sweep {

PointAnswer answer_of(const Metrics& metrics, const run::RunRecord& record) {
    PointAnswer answer;
    try {
        answer.metrics = metrics_json(metrics, report::make_report(record));
    } catch (const machine::ConfigError& error) {
        answer.metrics_error = error.what();
        return answer;
    }
    answer.bytes = compressed(run::to_bytes(record));
    return answer;
}

RunResult result_of(std::string message, const std::function<run::RunSpec()>& spec) {
    const char kind = message.front();
    message.erase(0, 1);
    RunResult result;
    if (kind != run::record_message) {
        result.error = std::move(message);
        result.spec = compressed(run::to_bytes(spec()));
        return result;
    }
    auto answer = run::from_bytes<PointAnswer>(message);
    if (!answer.metrics_error.empty()) throw machine::ConfigError(answer.metrics_error);
    result.metrics = std::move(answer.metrics);
    result.record = std::move(answer.bytes);
    return result;
}

std::string metrics_json(const Metrics& metrics, const nlohmann::ordered_json& report) {
    const std::vector<std::optional<double>> values = metrics.values_of(report);
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < values.size(); ++i) {
        nlohmann::ordered_json& value = object[metrics.all()[i].name];
        if (values[i]) value = number_json(*values[i]);
    }
    const auto left_out = report.find("left_out");
    if (left_out != report.end() && !left_out->empty()) {
        // Speed stands for all that follows from it.
        const auto speed = left_out->find("speed");
        nlohmann::ordered_json& reasons = object[left_out_key] = nlohmann::ordered_json::array();
        for (const auto& [what, why] : left_out->items()) {
            if (speed != left_out->end() && what != "speed") continue;
            reasons.push_back(fmt::format("no {}: {}", what == "speed" ? "speed of the chip" : what,
                                          why.get_ref<const std::string&>()));
        }
    }
    return json_text(object);
}

}  // namespace systole::sweep
