#include "sim/study/explain/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace systole::explain {
namespace {

/// `value` gives a counter's total or its part of one tag.
template <class Value>
Facts read_counters(const run::Counters& counters, Value value) {
    const auto read = [&](std::string_view name) {
        return value(counters.at(fmt::format("matrix_unit.{}", name)));
    };
    Facts facts;
    facts.active_cycles = read("active_cycles");
    facts.weight_stall_cycles = read("weight_stall_cycles");
    facts.weight_shift_cycles = read("weight_shift_cycles");
    facts.non_matrix_cycles = read("non_matrix_cycles");
    NonMatrixReasons& reasons = facts.reasons;
    reasons.raw = read("non_matrix_reasons.raw_cycles");
    reasons.input = read("non_matrix_reasons.input_cycles");
    reasons.accumulators = read("non_matrix_reasons.accumulators_cycles");
    reasons.output_buffer = read("non_matrix_reasons.output_buffer_cycles");
    reasons.input_buffer = read("non_matrix_reasons.input_buffer_cycles");
    reasons.vector_work = read("non_matrix_reasons.vector_work_cycles");
    reasons.setup = read("non_matrix_reasons.setup_cycles");
    reasons.port = read("non_matrix_reasons.port_cycles");
    reasons.not_arrived = read("non_matrix_reasons.not_arrived_cycles");
    reasons.queue_full = read("non_matrix_reasons.queue_full_cycles");
    reasons.issue = read("non_matrix_reasons.issue_cycles");
    reasons.sync = read("non_matrix_reasons.sync_cycles");
    reasons.program_begin = read("non_matrix_reasons.program_begin_cycles");
    reasons.program_end = read("non_matrix_reasons.program_end_cycles");
    // Only programs with work for the host have this reason.
    for (const run::Counter& counter : counters.of("matrix_unit.non_matrix_reasons")) {
        if (counter.name() == "host_cycles") reasons.host = value(counter);
    }
    facts.useful_macs = read("useful_macs");
    facts.unused_macs = read("unused_macs");
    return facts;
}

}  // namespace

Simulation facts_of(const run::RunRecord& record) {
    const run::ProgramFacts& program = record.program;
    Simulation simulation;
    simulation.inferences = std::max<std::uint64_t>(1, program.inferences);
    simulation.clock_hz = record.spec.machine.clock_hz();
    simulation.run =
        read_counters(record.counters, [](const run::Counter& counter) { return counter.value(); });
    for (std::size_t i = 0; i < program.tags.size(); ++i) {
        const auto tag = static_cast<run::Tag>(i);
        const bool is_layer = tag > 0 && tag <= program.layers.size();
        const run::TagFacts& facts = program.tags[i];
        simulation.tags.push_back(
            {.name = facts.name,
             .kind = is_layer ? program.layers[tag - 1U].kind : std::string(),
             .facts = read_counters(record.counters,
                                    [tag](const run::Counter& counter) { return counter.value(tag); })});
        simulation.run.fetched += facts.fetched;
        simulation.tags.back().facts.fetched = facts.fetched;
    }
    return simulation;
}

}  // namespace systole::explain
