#include "hw/activation_unit/activation_unit.h"

#include <algorithm>
#include <variant>

#include "hw/common/ports.h"
#include "hw/isa/queue.h"

namespace systole::hw {

namespace {

constexpr std::size_t unit = static_cast<std::size_t>(isa::QueueId::Activation);

}  // namespace

ActivationUnit::ActivationUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                               AccumulatorAccess& accumulators, UnifiedBufferAccess& buffer)
    : UnitModule(name),
      context_(context),
      latency_(context.machine.activation_latency()),
      accumulators_(accumulators),
      buffer_(buffer),
      history_(context.waits.activation()),
      queue_(unit, context.machine.sequencer.queue_depth, context.semaphores, context.clock) {
    queue_.record_waits(&history_);
    register_counters(counters_);
    spawn("activation_unit", context.failure, [this] { run(); });
}

void ActivationUnit::run() {
    for (;;) {
        const auto command = queue_.next(counters_);
        const isa::BoundInstruction& bound = command.bound;
        const timing::ActivationCost costs = cost(bound);

        context_.clock.wait_until(free_at_);
        context_.clock.wait_until(operands_written(bound.footprint));
        counters_.spend(counters_.drain_cycles, context_.clock.now(), command.tag);
        history_.waited(UnitHistory::Activity::OwnWrites, context_.clock.now());
        take_ports(bound, costs);
        counters_.spend(counters_.port_stall_cycles, context_.clock.now(), command.tag);
        history_.waited(UnitHistory::Activity::Port, context_.clock.now());

        const Cycle begun = context_.clock.now();
        context_.order.begin(unit, command.number);
        const isa::RowRange rows = bound.footprint.written_rows(isa::MemoryId::UnifiedBuffer);
        std::uint8_t* const written = buffer_.write(rows.first, rows.last - rows.first);
        if (context_.computes_values()) {
            context_.workers.compute(
                unit, command.number, ValueWorkers::all_rows,
                [this, bound, written](ValueWorkers::Scratch&) { compute(bound, written); });
        }
        counters_.spend(counters_.busy_cycles, begun + costs.cycles, command.tag);
        const bool activates = std::holds_alternative<isa::Activate>(bound.instruction);
        count(costs, activates, command.tag);

        free_at_ = begun + costs.cycles;
        const Cycle complete = free_at_ + latency_;
        history_.worked(activates ? UnitHistory::Activity::Work : UnitHistory::Activity::VectorWork,
                        command.number, command.tag, free_at_, complete);
        queue_.complete(complete);
        writes_under_way_.push_back({.rows = rows, .complete = complete});
        if (context_.trace != nullptr) {
            context_.trace->instruction({.unit = unit,
                                         .number = command.number,
                                         .tag = command.tag,
                                         .issued = command.issued,
                                         .begun = begun,
                                         .released = free_at_,
                                         .complete = complete,
                                         .loaded = begun + costs.loads});
        }
    }
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
