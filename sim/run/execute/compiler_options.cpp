#include "sim/run/execute/compiler_options.h"

#include <nlohmann/json.hpp>

#include "sim/run/baselines/baseline.h"
#include "sim/run/baselines/comparison.h"
#include "sim/run/execute/simulator.h"
#include "sim/run/network_input.h"

namespace systole::run {

compiler::Options compiler_options(const RunSpec& spec, const ir::Graph& graph,
                                   const std::vector<NamedImages>& inputs) {
    compiler::Options options{.mapping = spec.compiler.mapping, .batches = batches_of(spec, graph, inputs)};
    if (spec.host) {
        const baselines::WorkCosts costs =
            baselines::work_costs(baselines::read_baseline(nlohmann::json(*spec.host), "host"));
        options.host = {.seconds_per_operation = costs.per_operation,
                        .seconds_per_byte = costs.per_byte,
                        .seconds_per_layer = costs.per_layer};
    }
    if (spec.compiler.mapping.compare) options.simulate = simulator_of(spec);
    return options;
}

std::string mapping_key(const RunSpec& spec) {
    if (spec.program) return {};  // it has been compiled
    const machine::Mapping& mapping = spec.compiler.mapping;
    std::string key = compiler::machine_key(spec.machine, mapping);
    if ((mapping.pipeline || mapping.compare) && spec.host) key += nlohmann::json(*spec.host).dump();
    return key;
}

}  // namespace systole::run
