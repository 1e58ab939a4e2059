#include "hw/activation_unit/activation_unit.h"

#include <algorithm>
#include <variant>

#include "hw/common/ports.h"
#include "hw/isa/queue.h"

namespace systole::hw {

ActivationUnit::ActivationUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                               AccumulatorAccess& accumulators, UnifiedBufferAccess& buffer)
    : QueuedUnit(name, isa::QueueId::Activation,
                 {.track = "activation", .signals = "activation_unit.", .computes = true}, context,
                 &context.waits.activation()),
      latency_(context.machine.activation_latency()),
      accumulators_(accumulators),
      buffer_(buffer) {
    context.waits.set_role(isa::QueueId::Activation, QueueRole::WorksOnRows);
    register_counters(counters_);
    start("activation_unit", [this](const Command& command) { execute(command); });
}

void ActivationUnit::execute(const Command& command) {
    const isa::BoundInstruction& bound = command.bound;
    const timing::ActivationCost costs = cost(bound);

    context_.clock.wait_until(free_at_);
    context_.clock.wait_until(operands_written(bound.footprint));
    waited(counters_.drain_cycles, Activity::OwnWrites);
    take_ports(bound, costs);
    waited(counters_.port_stall_cycles, Activity::Port);

    const Cycle begun = begin();
    const isa::RowRange rows = bound.footprint.written_rows(isa::MemoryId::UnifiedBuffer);
    std::uint8_t* const written = buffer_.write(rows.first, rows.last - rows.first);
    if (context_.computes_values()) {
        compute([this, bound, written](ValueWorkers::Scratch&) { compute_rows(bound, written); });
    }
    const bool activates = std::holds_alternative<isa::Activate>(bound.instruction);
    count(costs, activates, command.tag);

    free_at_ = begun + costs.cycles;
    writes_under_way_.push_back({.rows = rows, .complete = free_at_ + latency_});
    complete(free_at_, free_at_ + latency_, activates ? Activity::Work : Activity::VectorWork,
             begun + costs.loads);
}

Cycle ActivationUnit::operands_written(const isa::Footprint& footprint) {
    std::erase_if(writes_under_way_,
                  [this](const Write& write) { return write.complete <= context_.clock.now(); });
    Cycle written = context_.clock.now();
    for (const Write& write : writes_under_way_) {
        const bool is_read =
            std::any_of(footprint.begin(), footprint.end(), [&](const isa::MemoryRows& each) {
                return each.memory == isa::MemoryId::UnifiedBuffer && each.access == isa::Access::Read &&
                       write.rows.overlaps(each.rows);
            });
        if (is_read) written = std::max(written, write.complete);
    }
    return written;
}

void ActivationUnit::count(const timing::ActivationCost& cost, bool activates, Tag tag) {
    if (activates) {
        counters_.rows.add(cost.accumulator_reads, tag);
    } else {
        counters_.vector_rows.add(cost.buffer_writes, tag);
    }
    counters_.buffer_reads.add(cost.buffer_reads, tag);
    counters_.buffer_writes.add(cost.buffer_writes, tag);
    counters_.elements.add(cost.elements, tag);
    counters_.lookups.add(cost.lookups, tag);
    counters_.operand_elements.add(cost.operand_elements, tag);
    counters_.pooled_elements.add(cost.pooled_elements, tag);
    accumulators_.count_reads(cost.accumulator_reads, tag);
    buffer_.count_reads(cost.buffer_reads, tag);
    buffer_.count_writes(cost.buffer_writes, tag);
}

timing::ActivationCost ActivationUnit::cost(const isa::BoundInstruction& bound) const {
    if (const auto* activate = std::get_if<isa::Activate>(&bound.instruction)) {
        return timing::activation_cost(*activate, *bound.registers, context_.machine);
    }
    return timing::activation_cost(std::get<isa::Vector>(bound.instruction), *bound.registers,
                                   context_.machine);
}

void ActivationUnit::take_ports(const isa::BoundInstruction& bound, const timing::ActivationCost& cost) {
    const bool vector = std::holds_alternative<isa::Vector>(bound.instruction);
    const Cycle rows = cost.cycles - cost.loads;
    needs_.clear();
    // Vector work reads the buffer in all its cycles, `activate` only while it loads parameters.
    needs_.push_back({.port = buffer_read_port, .cycles = vector ? cost.cycles : cost.loads});
    needs_.push_back({.port = buffer_write_port, .offset = cost.loads + latency_, .cycles = rows});
    const isa::RowRange sums = bound.footprint.read_rows(isa::MemoryId::Accumulators);
    if (!sums.empty()) {
        const auto [first, last] = accumulators_.banks(sums.first, sums.last - sums.first);
        for (std::size_t bank = first; bank <= last; ++bank)
            needs_.push_back({.port = first_bank_port + bank, .offset = cost.loads, .cycles = rows});
    }
    context_.ports.acquire(activation_user, needs_);
}

}  // namespace systole::hw
