#include "sim/study/validate/simulator.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/view/energy/run_energy.h"

namespace systole::validate {
namespace {

double clock_hz(const run::RunRecord& record) {
    return static_cast<double>(record.spec.machine.clock_hz());
}

double batch_macs(const run::RunRecord& record) {
    return static_cast<double>(record.network.value().macs() * record.program.inferences);
}

/// A counter of cell cycles, as a share of all cell cycles.
double share_of_cells(const run::RunRecord& record, std::string_view counter) {
    const auto counted = static_cast<double>(record.counters.at(counter).value());
    return counted / static_cast<double>(record.spec.machine.tile_bytes()) /
           static_cast<double>(record.cycles);
}

}  // namespace

ByWorkload<run::RunRecord> Simulator::run_all(const machine::MachineConfig& machine,
                                              const ByWorkload<NetworkId>& networks) {
    std::vector<Case> cases;
    for (const NetworkId network : networks) cases.push_back({network, machine});
    std::vector<run::RunRecord> records = run(cases);
    ByWorkload<run::RunRecord> result;
    std::move(records.begin(), records.end(), result.begin());
    return result;
}

NetworkId ChipSimulator::add(run::Content network, std::uint32_t batch) {
    networks_.push_back({.content = std::move(network), .batch = batch});
    return networks_.size() - 1;
}

NetworkId ChipSimulator::add(const nlohmann::json& network, std::uint32_t batch) {
    return add(made_.add(network.at("name").get<std::string>() + ".json", network.dump()), batch);
}

std::vector<run::RunRecord> ChipSimulator::run(std::span<const Case> cases) {
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
    std::vector<run::RunRecord> records;
    for (run::RunOutcome& outcome : executor_.run(specs)) {
        if (!outcome.record) throw std::runtime_error(outcome.error);
        records.push_back(std::move(*outcome.record));
    }
    return records;
}

nlohmann::json with_8_bit_activations(nlohmann::json network) {
    constexpr const char* bits = "activation_bits";
    network[bits] = 8;
    for (nlohmann::json& layer : network.at("layers")) {
        if (layer.contains(bits)) layer[bits] = 8;
    }
    return network;
}

double seconds(const run::RunRecord& record) {
    return static_cast<double>(record.cycles) / clock_hz(record);
}

Cycle host_only_cycles(const run::RunRecord& record) {
    const run::Phases& phases = record.phases.value();
    return phases.head + record.cycles - std::min(record.cycles, phases.last_result);
}

double device_seconds(const run::RunRecord& record) {
    return static_cast<double>(record.cycles - host_only_cycles(record)) / clock_hz(record);
}

double inferences_per_second(const run::RunRecord& record) {
    return record.program.batch / seconds(record);
}

double tera_ops(const run::RunRecord& record) {
    return 2.0 * batch_macs(record) / seconds(record) / 1e12;
}

double macs_per_weight_byte(const run::RunRecord& record) {
    return batch_macs(record) / static_cast<double>(record.program.tile_bytes);
}

double share_of_cycles(const run::RunRecord& record, std::string_view counter) {
    return static_cast<double>(record.counters.at(counter).value()) / static_cast<double>(record.cycles);
}

double useful_share(const run::RunRecord& record) {
    return share_of_cells(record, "matrix_unit.useful_macs");
}

ByWorkload<double> table_3_values(std::size_t row, const ByWorkload<run::RunRecord>& records) {
    const std::string_view counter = table_3_rows.at(row).counter;
    if (counter.empty()) return of_each(records, tera_ops);
    const bool counts_cells = counter.ends_with("_macs");
    return of_each(records, [&](const run::RunRecord& record) {
        return 100.0 * (counts_cells ? share_of_cells(record, counter) : share_of_cycles(record, counter));
    });
}

Watts die_watts(const run::RunRecord& record) {
    const machine::MachineConfig& machine = record.spec.machine;
    if (!machine.energy) return {};
    const energy::Joules joules =
        energy::joules(energy::events(record.counters, machine), machine, record.cycles);
    return {.idle = joules[energy::Consumer::ChipStatic] / seconds(record),
            .busy = joules.on_die() / seconds(record)};
}

}  // namespace systole::validate
