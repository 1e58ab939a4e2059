#include "sim/study/validate/simulations.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "sim/study/validate/measure.h"

namespace systole::validate {

NetworkId ChipSimulator::add(run::Content network, std::uint32_t batch) {
    networks_.push_back({.content = std::move(network), .batch = batch});
    return networks_.size() - 1;
}

NetworkId ChipSimulator::add(const nlohmann::json& network, std::uint32_t batch) {
    return add(made_.add(network.at("name").get<std::string>() + ".json", network.dump()), batch);
}

std::vector<Measurement> ChipSimulator::run(std::span<const Case> cases) {
    std::vector<run::RunSpec> specs;
    for (const Case& wanted : cases) {
        const Network& network = networks_.at(wanted.network);
        run::RunSpec& spec = specs.emplace_back();
        spec.machine = wanted.machine;
        spec.network = network.content;
        spec.compiler = {.batch = network.batch, .limit = network.batch};
        spec.timing_only = true;
        spec.observed.phases = true;
    }
    std::vector<Measurement> measurements;
    for (const run::RunOutcome& outcome : executor_.run(specs)) {
        if (!outcome.record) throw std::runtime_error(outcome.error);
        measurements.push_back(measurement_of(*outcome.record));
    }
    return measurements;
}

}  // namespace systole::validate
