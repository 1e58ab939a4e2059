#include "sim/run/execute/repeated_run.h"

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "base/user_error.h"
#include "hw/machine/config_error.h"
#include "sim/run/arrays.h"
#include "sim/run/network.h"
#include "sim/run/outputs.h"
#include "sim/run/record/bytes.h"

namespace systole::run {

/// What the process of a simulation answers.
struct RunAnswer {
    Cycle cycles = 0;
    std::vector<OutputArray> outputs;
};
SYSTOLE_RECORD_FIELDS(RunAnswer, cycles, outputs)

namespace {

/// The network is compiled for inputs of the right size, which each run replaces.
RunSpec with_made_up_input(RunSpec spec) {
    spec.data.input.clear();
    spec.data.labels.reset();
    spec.data.random_input = 1;
    spec.compiler.limit = 0;
    spec.compiler.batch = spec.machine.cores();
    spec.timing_only = false;
    spec.feeding = {};  // a value does not wait
    spec.observed = {};
    spec.observed.outputs = true;
    return spec;
}

}  // namespace

RepeatedRun::RepeatedRun(RunSpec spec)
    : spec_(with_made_up_input(std::move(spec))), graph_(read_model(spec_).graph) {
    if (!takes_arrays(graph_, spec_.machine)) {
        compile();  // says more, where the machine cannot compute it
        throw machine::ConfigError(
            fmt::format("{}: its inputs and outputs are images and classes; arrays of a program are needed",
                        graph_.name));
    }
    inputs_ = array_tensors(graph_);
}

void RepeatedRun::compile() {
    if (!prepared_) prepared_ = prepare(spec_);
}

std::vector<OutputArray> RepeatedRun::run(std::span<const OutputArray> arrays) {
    if (arrays.size() != inputs_.size()) throw std::logic_error("a run needs an array of each input");
    compile();
    for (std::size_t i = 0; i < arrays.size(); ++i)
        prepared_->inputs[i] = named_array(
            {.shape = {arrays[i].shape.begin(), arrays[i].shape.end()}, .words = words_of(arrays[i])},
            inputs_[i], inputs_[i].name);
    const ChildAnswer answer = child_.run([&] {
        RunRecord record = simulate(spec_, *prepared_);
        return to_bytes(
            RunAnswer{.cycles = record.cycles, .outputs = std::move(record.answers.output_arrays)});
    });
    if (!answer.is_result) throw UserError(answer.bytes);
    auto read = from_bytes<RunAnswer>(answer.bytes);
    cycles_ = read.cycles;
    const std::vector<FileOutput> outputs = outputs_of_file(graph());
    std::vector<OutputArray> computed;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].place) computed.push_back(std::move(read.outputs.at(i)));
    }
    return computed;
}

}  // namespace systole::run
