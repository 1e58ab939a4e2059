// What a further step of a program costs, where the run says which input takes its examples.
#include "sim/view/report/json_values.h"
#include "sim/view/report/sections.h"

namespace systole::report {

Json step_json(const Basis& basis) {
    const run::FurtherStep& step = *basis.record.step;
    const run::ProgramFacts& program = basis.record.program;
    const double seconds = seconds_of(step.cycles, basis.machine);
    Json json{{"examples", program.examples},
              {"examples_of_core", program.examples_of_core},
              {"cycles", step.cycles},
              {"seconds", seconds},
              {"examples_per_second", or_null(ratio(static_cast<double>(program.examples), seconds))}};
    for (const machine::Bound& bound : step.bounds) json["bounds"][bound.name] = bound.value();
    return json;
}

}  // namespace systole::report
