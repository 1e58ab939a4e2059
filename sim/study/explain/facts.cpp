#include "sim/study/explain/facts.h"

#include <algorithm>
#include <string_view>

namespace systole::explain {
namespace {

/// `value` gives a counter's total or its part of one tag.
template <class Value>
Facts read_counters(const run::RunRecord& record, Value value) {
    const auto read = [&](std::string_view path) { return value(record.counters.at(path)); };
    const machine::MainUnit& main = *record.main_unit().main;
    Facts facts;
    facts.active_cycles = read(main.products);
    for (const machine::UnitDescription& unit : record.units) {
        for (const machine::CycleCause& cause : unit.causes) {
            for (const std::string& counter : cause.counters) facts.by_cause[cause.name] += read(counter);
        }
    }
    facts.useful_macs = read(main.useful_macs);
    facts.unused_macs = read(main.unused_macs);
    return facts;
}

}  // namespace

std::uint64_t Facts::cycles() const {
    std::uint64_t sum = active_cycles;
    for (const auto& [cause, cycles] : by_cause) sum += cycles;
    return sum;
}

Simulation facts_of(const run::RunRecord& record) {
    const run::ProgramFacts& program = record.program;
    Simulation simulation;
    simulation.inferences = std::max<std::uint64_t>(1, program.inferences);
    simulation.units = record.units;
    simulation.clock_hz = record.spec.machine.clock_hz();
    simulation.run = read_counters(record, [](const run::Counter& counter) { return counter.value(); });
    const bool has_several = record.spec.machine.arrays() > 1;
    if (has_several) simulation.run.of_one_array = record.cycles;
    for (std::size_t i = 0; i < program.tags.size(); ++i) {
        const auto tag = static_cast<run::Tag>(i);
        const bool is_layer = tag > 0 && tag <= program.layers.size();
        const run::TagFacts& facts = program.tags[i];
        simulation.tags.push_back({.name = facts.name,
                                   .kind = is_layer ? program.layers[tag - 1U].kind : std::string(),
                                   .facts = read_counters(record, [tag](const run::Counter& counter) {
                                       return counter.value(tag);
                                   })});
        simulation.run.fetched += facts.fetched;
        simulation.tags.back().facts.fetched = facts.fetched;
        if (has_several) simulation.tags.back().facts.of_one_array = record.cycles_under(tag);
    }
    return simulation;
}

}  // namespace systole::explain
