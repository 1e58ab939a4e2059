// A training, of which the report's run is the first steps: how long all take, and what came of them.
#include "base/arithmetic.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/sections.h"

namespace systole::report {

Json training_json(const Basis& basis) {
    const run::Training& training = *basis.record.training;
    const double seconds_a_step = seconds_of(training.cycles_a_step, basis.machine);
    Json json{{"batch", training.batch},
              {"epochs", training.epochs},
              {"steps_an_epoch", training.steps_an_epoch},
              {"steps", training.steps_an_epoch * training.epochs},
              {"left_out", training.left_out},
              {"evaluated_on", training.evaluated_on},
              {"timed_steps", training.timed_steps},
              {"cycles_a_step", training.cycles_a_step},
              {"seconds_a_step", seconds_a_step},
              {"examples_per_second", or_null(ratio(static_cast<double>(training.batch), seconds_a_step))},
              {"cycles", training.cycles},
              {"seconds", seconds_of(training.cycles, basis.machine)},
              {"first_step", training.first_step},
              {"columns", training.columns}};
    Json& epochs = json["by_epoch"] = Json::array();
    std::uint64_t number = training.first_step / training.steps_an_epoch;
    for (const run::TrainedEpoch& epoch : training.by_epoch) {
        Json means = Json::object();
        for (std::size_t i = 0; i < training.columns.size(); ++i) means[training.columns[i]] = epoch.means[i];
        epochs.push_back({{"epoch", ++number}, {"means", means}, {"evaluated", or_null(epoch.evaluated)}});
    }
    Json& steps = json["by_step"] = Json::object();
    for (std::size_t i = 0; i < training.columns.size(); ++i) {
        Json& column = steps[training.columns[i]] = Json::array();
        for (const std::vector<double>& row : training.steps) column.push_back(row[i]);
    }
    return json;
}

}  // namespace systole::report
