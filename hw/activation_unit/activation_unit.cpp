#include "hw/activation_unit/activation_unit.h"

#include <algorithm>
#include <variant>

#include "hw/common/ports.h"
#include "hw/isa/requantization.h"
#include "hw/isa/unit.h"
#include "hw/machine/timing.h"

namespace systole::hw {

namespace {

constexpr std::size_t unit = static_cast<std::size_t>(isa::Unit::Activation);

std::uint64_t rows_of_bytes(std::uint64_t bytes, std::uint64_t row_bytes) {
    return (bytes + row_bytes - 1) / row_bytes;
}

}  // namespace

ActivationUnit::ActivationUnit(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
                               Values values, const Clock& clock, Semaphores& semaphores, OrderChecker& order,
                               AccumulatorAccess& accumulators, UnifiedBufferAccess& buffer,
                               PortArbiter& ports, Failure& failure, TraceSink* trace)
    : sc_module(name),
      latency_(machine.activation_unit.latency_cycles),
      values_(values),
      clock_(clock),
      order_(order),
      accumulators_(accumulators),
      buffer_(buffer),
      ports_(ports),
      trace_(trace),
      queue_(unit, machine.sequencer.queue_depth, semaphores, clock) {
    spawn("activation_unit", failure, [this] { run(); });
}

void ActivationUnit::run() {
    for (;;) {
        const auto command = queue_.next(wait_state_);
        const isa::BoundInstruction& bound = command.payload;
        const auto* activate = std::get_if<isa::Activate>(&bound.instruction);
        const auto* vector = std::get_if<isa::Vector>(&bound.instruction);
        const Cost cost_ = activate != nullptr ? cost(*activate, bound) : cost(*vector, bound);

        clock_.wait_until(free_at_);
        if (cost_.buffer_reads > 0) {
            const Cycle asked = clock_.now();
            clock_.wait_until(queue_.complete_at());
            counters_.drain_cycles.add(clock_.now() - asked, command.tag);
        }
        counters_.port_stall_cycles.add(take_ports(bound, cost_), command.tag);

        const Cycle begun = clock_.now();
        order_.begin(unit, command.number);
        if (values_ == Values::Computed) {
            if (activate != nullptr) {
                compute(*activate, bound);
            } else {
                compute(*vector, bound);
            }
        }
        counters_.busy_cycles.add(cost_.cycles, command.tag);
        (activate != nullptr ? counters_.rows : counters_.vector_rows)
            .add(activate != nullptr ? cost_.accumulator_reads : cost_.buffer_writes, command.tag);
        accumulators_.count_reads(cost_.accumulator_reads, command.tag);
        buffer_.count_reads(cost_.buffer_reads, command.tag);
        buffer_.count_writes(cost_.buffer_writes, command.tag);

        free_at_ = begun + cost_.cycles;
        const Cycle complete = free_at_ + latency_;
        order_.complete(unit, command.number, complete);
        queue_.complete(complete);
        if (trace_ != nullptr) {
            trace_->instruction(
                {unit, command.number, command.tag, command.issued, begun, free_at_, complete});
        }
    }
}

ActivationUnit::Cost ActivationUnit::cost(const isa::Activate& activate,
                                          const isa::BoundInstruction& bound) const {
    const isa::Registers& registers = *bound.registers;
    const std::uint64_t columns = registers[isa::Register::ActivationColumns];
    const std::uint64_t writes = rows_of_bytes(columns * (activate.wide_output ? 2 : 1), buffer_.row_bytes());
    std::uint64_t loads = 0;
    if (activate.load_parameters) {
        loads = rows_of_bytes(isa::parameter_bytes * columns, buffer_.row_bytes());
        if (activate.function == isa::ActivationFunction::Lookup) {
            loads += rows_of_bytes(isa::table_bytes, buffer_.row_bytes());
        }
    }
    return {.cycles = loads + activate.length * writes,
            .buffer_reads = loads,
            .buffer_writes = activate.length * writes,
            .accumulator_reads = activate.length};
}

ActivationUnit::Cost ActivationUnit::cost(const isa::Vector& vector,
                                          const isa::BoundInstruction& bound) const {
    using isa::Register;
    const isa::Registers& registers = *bound.registers;
    const std::uint64_t length = vector.length;
    Cost cost;
    if (vector.is_pooling()) {
        const std::uint64_t channels = registers[Register::WindowChannels];
        const std::uint64_t width = registers[Register::WindowOutputWidth];
        const std::uint64_t fetches =
            machine::line_fetches(width, registers[Register::WindowKernelWidth] * channels,
                                  registers[Register::WindowStrideX] * channels, buffer_.row_bytes());
        cost.buffer_reads = length * registers[Register::WindowKernelHeight] * fetches;
        cost.buffer_writes = length * rows_of_bytes(width * channels, buffer_.row_bytes());
    } else {
        const bool two_operands = vector.operation != isa::VectorOperation::Lookup;
        cost.buffer_reads = length * (two_operands ? 2 : 1);
        cost.buffer_writes = length;
        if (!two_operands) cost.buffer_reads += rows_of_bytes(isa::table_bytes, buffer_.row_bytes());
    }
    cost.cycles = std::max(cost.buffer_reads, cost.buffer_writes);
    return cost;
}

Cycle ActivationUnit::take_ports(const isa::BoundInstruction& bound, const Cost& cost) {
    needs_.clear();
    if (cost.buffer_reads > 0) needs_.push_back({buffer_read_port, cost.cycles});
    needs_.push_back({buffer_write_port, cost.cycles + latency_});
    const isa::RowRange& sums = bound.footprint.accumulator_read;
    if (!sums.empty()) {
        const auto [first, last] = accumulators_.banks(sums.first, sums.last - sums.first);
        for (std::size_t bank = first; bank <= last; ++bank)
            needs_.push_back({first_bank_port + bank, cost.cycles});
    }
    return ports_.acquire(activation_user, needs_, wait_state_);
}

}  // namespace systole::hw
