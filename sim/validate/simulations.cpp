#include "sim/validate/simulations.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "compiler/emit/compile.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/drop_weights.h"
#include "compiler/passes/prepare.h"
#include "sim/pool/process_pool.h"
#include "sim/run/compile.h"
#include "sim/validate/measure.h"

namespace systole::validate {
namespace {

// Between a process and its copy, the bytes of a measurement are the measurement.
static_assert(std::is_trivially_copyable_v<Measurement>);

std::string to_bytes(const Measurement& measurement) {
    std::string bytes(sizeof measurement, '\0');
    std::memcpy(bytes.data(), &measurement, sizeof measurement);
    return bytes;
}

Measurement from_bytes(const std::string& bytes) {
    Measurement measurement;
    if (bytes.size() != sizeof measurement) throw std::logic_error("a measurement of another size");
    std::memcpy(&measurement, bytes.data(), sizeof measurement);
    return measurement;
}

std::string key_of(const Case& wanted) {
    return fmt::format("{} {}", wanted.network, machine::to_json(wanted.machine).dump());
}

}  // namespace

NetworkId ChipSimulator::add(const ir::Graph& graph, std::uint32_t batch) {
    networks_.push_back(
        {.graph = passes::drop_weights(graph), .batch = batch, .macs = operators::macs(graph)});
    return networks_.size() - 1;
}

const isa::Program& ChipSimulator::program(const Case& wanted) {
    const schedule::Target target = run::target_of(wanted.machine);
    std::unique_ptr<const isa::Program>& program = programs_[{wanted.network, run::to_json(target).dump()}];
    if (!program) {
        const Network& network = networks_.at(wanted.network);
        const quantized::Network quantized = passes::prepare(network.graph, passes::Calibration{});
        program = std::make_unique<const isa::Program>(
            emit::compile(quantized, target, {.batch = network.batch, .inferences = network.batch}));
    }
    return *program;
}

std::vector<Measurement> ChipSimulator::run(std::span<const Case> cases) {
    std::vector<std::string> keys;
    std::vector<std::string> missing;
    std::vector<pool::Job> jobs;
    for (const Case& wanted : cases) {
        keys.push_back(key_of(wanted));
        const auto [found, is_new] = known_.try_emplace(keys.back());
        if (!is_new) continue;
        missing.push_back(keys.back());
        const isa::Program& compiled = program(wanted);
        const std::uint64_t macs = networks_.at(wanted.network).macs;
        jobs.emplace_back(
            [&wanted, &compiled, macs] { return to_bytes(measure(compiled, wanted.machine, macs)); });
    }
    const std::vector<std::string> answers = pool::run_or_throw(jobs);
    for (std::size_t i = 0; i < answers.size(); ++i) known_[missing[i]] = from_bytes(answers[i]);
    std::vector<Measurement> measurements;
    measurements.reserve(keys.size());
    for (const std::string& key : keys) measurements.push_back(known_.at(key));
    return measurements;
}

}  // namespace systole::validate
