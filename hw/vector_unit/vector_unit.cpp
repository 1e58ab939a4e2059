#include "hw/vector_unit/vector_unit.h"

#include <algorithm>
#include <string>
#include <variant>

#include "hw/isa/panels.h"
#include "hw/math/floats/word_reduction.h"
#include "hw/vector_unit/chain.h"

namespace systole::hw {

VectorUnit::VectorUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                       const isa::Program& program, WordMemoryAccess& vector_memory)
    : QueuedUnit(name, isa::QueueId::Vector, {.track = "vector", .signals = "vector_unit.", .computes = true},
                 context, &context.waits.activation()),
      shape_(timing::tensor_shape_of(context.machine)),
      program_(program),
      vector_memory_(vector_memory) {
    context.waits.set_role(isa::QueueId::Vector, QueueRole::WorksOnRows);
    register_counters(counters());
    register_counters(std::string(basename()) + ".work", work_);
    start("vector_unit", [this](const Command& command) { execute(command); });
}

void VectorUnit::execute(const Command& command) {
    const isa::Footprint& footprint = command.bound.footprint;
    context_.clock.wait_until(own_writes_.complete(footprint, context_.clock.now()));
    waited(counters_.drain_cycles, Activity::OwnWrites);
    const Cycle begun = begin();
    const isa::Registers& registers = *command.bound.registers;
    timing::VectorCost cost;
    if (const auto* const chain = std::get_if<isa::RunChain>(&command.bound.instruction)) {
        cost = timing::chain_cost(*chain, program_.chains.at(chain->chain), context_.machine);
        work_.chain_cycles.add(cost.cycles, command.tag);
        if (context_.computes_values()) run(*chain, registers);
    } else {
        const auto& rows = std::get<isa::ReduceRows>(command.bound.instruction);
        cost = timing::reduction_cost(rows, context_.machine);
        work_.reduction_cycles.add(cost.cycles, command.tag);
        if (context_.computes_values()) reduce(rows, registers);
    }
    const std::uint64_t vector_bytes =
        std::uint64_t{context_.machine.vector_unit.sublanes} * shape_.lanes * isa::word_bytes;
    counters_.operations.add(cost.operations, command.tag);
    counters_.loads.add(cost.loads, command.tag);
    counters_.stores.add(cost.stores, command.tag);
    vector_memory_.touch(footprint);
    vector_memory_.count_reads(cost.loads * vector_bytes, command.tag);
    vector_memory_.count_writes(cost.stores * vector_bytes, command.tag);
    const Cycle released = begun + cost.cycles;
    context_.clock.wait_until(released);
    const Cycle written = released + context_.machine.vector_unit.latency_cycles;
    own_writes_.add(footprint, written);
    complete(released, written, Activity::VectorWork);
}

void VectorUnit::run(const isa::RunChain& run, const isa::Registers& registers) {
    const isa::Chain& chain = program_.chains.at(run.chain);
    compute([work = std::make_shared<const ChainWork>(run, chain, registers, shape_),
             memory = vector_memory_.from_row(0)](ValueWorkers::Scratch&) {
        std::vector<std::uint32_t> values;
        work->execute(memory, values);
    });
}

void VectorUnit::reduce(const isa::ReduceRows& reduce, const isa::Registers& registers) {
    const isa::Panels source = isa::panels_of(registers, shape_, reduce.source, {reduce.rows, reduce.columns},
                                              isa::Register::SourcePanelRows);
    const isa::Panels result =
        isa::panels_of(registers, shape_, reduce.result, {1, reduce.columns}, isa::Register::ResultPanelRows);
    compute([this, reduce, source, result, lanes = std::uint64_t{shape_.lanes}](ValueWorkers::Scratch&) {
        for (std::uint64_t panel = 0; panel < source.panels; ++panel) {
            math::reduce_words(reduce.reduction,
                               {.data = vector_memory_.from_row(source.first_row_of(panel)),
                                .numbers = reduce.rows,
                                .stride = lanes,
                                .columns = std::min<std::uint64_t>(lanes, reduce.columns - panel * lanes),
                                .column_stride = 1,
                                .block = lanes},
                               reduce.accumulate, vector_memory_.from_row(result.first_row_of(panel)));
        }
    });
}

}  // namespace systole::hw
