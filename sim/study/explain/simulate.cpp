#include <exception>
#include <memory>
#include <utility>

#include "sim/run/execute/executor.h"
#include "sim/run/run_config.h"
#include "sim/study/explain/explain.h"

namespace systole::explain {

Simulate on_all_cores() {
    return [executor = std::make_shared<run::Executor>()](std::span<const run::RunConfig> runs) {
        std::vector<Answer> answers(runs.size());
        std::vector<run::RunSpec> specs;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            try {
                specs.push_back(run::make_spec(runs[i]));
                places.push_back(i);
            } catch (const std::exception& error) {
                answers[i].error = line_of(error);
            }
        }
        std::vector<run::RunOutcome> outcomes = executor->run(specs);
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            Answer& answer = answers[places[i]];
            if (outcomes[i].record) {
                answer.simulation = facts_of(*outcomes[i].record);
            } else {
                answer.error = std::move(outcomes[i].error);
            }
        }
        return answers;
    };
}

}  // namespace systole::explain
