// A training, for a terminal: each epoch, and how long a step and all of them take.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/message_text.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/report/texts.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

class TrainingLines : ReportLines {
public:
    TrainingLines(const Json& training, const terminal::Look& look)
        : ReportLines(look), training_(training) {}

    std::string write() && {
        line("{}", heading("Training"));
        write_epochs();
        entry(
            "a step", si(*number_at(training_, "seconds_a_step"), "s"),
            fmt::format("{} examples, {} cycles", grouped(count("batch")), grouped(count("cycles_a_step"))));
        entry("examples", amount(number_at(training_, "examples_per_second"), "/s"), "trained on");
        entry("all steps", si(*number_at(training_, "seconds"), "s"),
              fmt::format("{} of {}; the first {} are simulated below, without values",
                          counted(count("epochs"), "epoch"), counted(count("steps_an_epoch"), "step"),
                          grouped(count("timed_steps"))));
        if (const std::uint64_t left_out = count("left_out"); left_out > 0) {
            note(4,
                 fmt::format("({} of each epoch {} no batch and {} left out)", counted(left_out, "example"),
                             left_out == 1 ? "fills" : "fill", left_out == 1 ? "is" : "are"));
        }
        return take();
    }

private:
    std::uint64_t count(const char* key) const { return training_[key].get<std::uint64_t>(); }

    void write_epochs() {
        const Json& epochs = training_["by_epoch"];
        if (epochs.empty()) return;
        std::string head = "  epoch     ";
        for (const Json& column : training_["columns"])
            head += fmt::format("  {:>12}", terminal::fitted(column.get<std::string>(), 12));
        const bool is_evaluated = !epochs.front()["evaluated"].is_null();
        line("{}{}", head, is_evaluated ? "     evaluated" : "");
        for (const Json& epoch : epochs) {
            std::string text = fmt::format("  {:<10}", epoch["epoch"].get<std::uint64_t>());
            for (const Json& column : training_["columns"]) {
                const std::optional<double> mean = number_at(epoch["means"], column.get<std::string>());
                text += fmt::format("  {:>12}", mean ? fmt::format("{:.4f}", *mean) : "nan");
            }
            if (is_evaluated) text += fmt::format("  {:>12}", percent(number_at(epoch, "evaluated")));
            line("{}", text);
        }
        if (is_evaluated) {
            note(4,
                 fmt::format("(means over the steps of an epoch; evaluated: right answers on {} that {} not "
                             "trained on)",
                             counted(count("evaluated_on"), "example"),
                             count("evaluated_on") == 1 ? "is" : "are"));
        }
    }

    const Json& training_;
};

}  // namespace

std::string training_text(const Json& training, const terminal::Look& look) {
    return TrainingLines(training, look).write();
}

}  // namespace systole::report
