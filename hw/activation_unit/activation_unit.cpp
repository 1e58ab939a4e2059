#include "hw/activation_unit/activation_unit.h"

#include <algorithm>
#include <variant>

#include "hw/base/arithmetic.h"
#include "hw/common/ports.h"
#include "hw/isa/requantization.h"
#include "hw/isa/unit.h"
#include "hw/machine/timing.h"

namespace systole::hw {

namespace {

constexpr std::size_t unit = static_cast<std::size_t>(isa::Unit::Activation);

}  // namespace

ActivationUnit::ActivationUnit(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
                               Values values, const Clock& clock, Semaphores& semaphores, OrderChecker& order,
                               ValueWorkers& workers, AccumulatorAccess& accumulators,
                               UnifiedBufferAccess& buffer, PortArbiter& ports, Failure& failure,
                               TraceSink* trace)
    : UnitModule(name),
      latency_(machine.activation_latency()),
      values_(values),
      clock_(clock),
      order_(order),
      workers_(workers),
      accumulators_(accumulators),
      buffer_(buffer),
      ports_(ports),
      trace_(trace),
      queue_(unit, machine.sequencer.queue_depth, semaphores, clock) {
    register_counters(counters_);
    spawn("activation_unit", failure, [this] { run(); });
}

void ActivationUnit::run() {
    for (;;) {
        const auto command = queue_.next(wait_state_, counters_);
        const isa::BoundInstruction& bound = command.bound;
        const auto* activate = std::get_if<isa::Activate>(&bound.instruction);
        const auto* vector = std::get_if<isa::Vector>(&bound.instruction);
        const Cost costs = activate != nullptr ? cost(*activate, bound) : cost(*vector, bound);

        clock_.wait_until(free_at_);
        clock_.wait_until(operands_written(bound.footprint));
        counters_.spend(counters_.drain_cycles, clock_.now(), command.tag);
        take_ports(bound, costs);
        counters_.spend(counters_.port_stall_cycles, clock_.now(), command.tag);

        const Cycle begun = clock_.now();
        order_.begin(unit, command.number);
        const isa::RowRange& rows = bound.footprint.buffer_write;
        std::uint8_t* const written = buffer_.write(rows.first, rows.last - rows.first);
        if (values_ == Values::Computed) {
            workers_.compute(unit, command.number, ValueWorkers::all_rows,
                             [this, bound, written](ValueWorkers::Scratch&) { compute(bound, written); });
        }
        counters_.spend(counters_.busy_cycles, begun + costs.cycles, command.tag);
        count(costs, activate != nullptr, command.tag);

        free_at_ = begun + costs.cycles;
        const Cycle complete = free_at_ + latency_;
        order_.complete(unit, command.number, complete);
        queue_.complete(complete);
        writes_under_way_.push_back({.rows = rows, .complete = complete});
        if (trace_ != nullptr) {
            trace_->instruction({.unit = unit,
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
    std::erase_if(writes_under_way_, [this](const Write& write) { return write.complete <= clock_.now(); });
    Cycle written = clock_.now();
    for (const Write& write : writes_under_way_) {
        const bool is_read = write.rows.overlaps(footprint.buffer_read) ||
                             write.rows.overlaps(footprint.buffer_read_other) ||
                             write.rows.overlaps(footprint.buffer_read_table);
        if (is_read) written = std::max(written, write.complete);
    }
    return written;
}

void ActivationUnit::count(const Cost& cost, bool activates, Tag tag) {
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

ActivationUnit::Cost ActivationUnit::cost(const isa::Activate& activate,
                                          const isa::BoundInstruction& bound) const {
    const isa::Registers& registers = *bound.registers;
    const std::uint64_t columns = registers[isa::Register::ActivationColumns];
    const std::uint64_t writes = divide_up(columns * bytes_of(activate.output), buffer_.row_bytes());
    std::uint64_t loads = 0;
    if (activate.load_parameters) {
        loads = divide_up(isa::parameter_bytes * columns, buffer_.row_bytes());
        if (activate.function == isa::ActivationFunction::Lookup) {
            loads += divide_up(isa::table_bytes(activate.output), buffer_.row_bytes());
        }
    }
    return {.cycles = loads + activate.length * writes,
            .loads = loads,
            .buffer_reads = loads,
            .buffer_writes = activate.length * writes,
            .accumulator_reads = activate.length,
            .elements = activate.length * columns,
            .lookups = activate.function == isa::ActivationFunction::Lookup ? activate.length * columns : 0};
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
        cost.buffer_writes = length * divide_up(width * channels, buffer_.row_bytes());
        cost.pooled_elements = length * width * registers[Register::WindowKernelHeight] *
                               registers[Register::WindowKernelWidth] * channels;
    } else {
        const bool two_operands = vector.operation != isa::VectorOperation::Lookup;
        cost.buffer_reads = length * (two_operands ? 2 : 1);
        cost.buffer_writes = length;
        (two_operands ? cost.operand_elements : cost.lookups) =
            length * (two_operands ? 2 : 1) * buffer_.row_bytes() / bytes_of(vector.elements);
        if (!two_operands) {
            cost.loads = divide_up(isa::table_bytes(vector.elements), buffer_.row_bytes());
            cost.buffer_reads += cost.loads;
        }
    }
    cost.cycles = std::max(cost.buffer_reads, cost.buffer_writes);
    return cost;
}

void ActivationUnit::take_ports(const isa::BoundInstruction& bound, const Cost& cost) {
    const bool vector = std::holds_alternative<isa::Vector>(bound.instruction);
    const Cycle rows = cost.cycles - cost.loads;
    needs_.clear();
    // Vector work reads the buffer all the time, `activate` only while it loads.
    needs_.push_back({.port = buffer_read_port, .cycles = vector ? cost.cycles : cost.loads});
    needs_.push_back({.port = buffer_write_port, .offset = cost.loads + latency_, .cycles = rows});
    const isa::RowRange& sums = bound.footprint.accumulator_read;
    if (!sums.empty()) {
        const auto [first, last] = accumulators_.banks(sums.first, sums.last - sums.first);
        for (std::size_t bank = first; bank <= last; ++bank)
            needs_.push_back({.port = first_bank_port + bank, .offset = cost.loads, .cycles = rows});
    }
    ports_.acquire(activation_user, needs_, wait_state_);
}

}  // namespace systole::hw
