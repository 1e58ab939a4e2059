#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <systemc>
#include <utility>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/order_checker.h"
#include "hw/common/port_arbiter.h"
#include "hw/common/ports.h"
#include "hw/common/process.h"
#include "hw/common/semaphores.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_module.h"
#include "hw/common/value_workers.h"
#include "hw/common/wait_history.h"
#include "hw/isa/access_history.h"
#include "hw/isa/footprint.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "hw/isa/queue.h"
#include "hw/isa/registers.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/tensor.h"
#include "hw/timing/tiles.h"
#include "tests/support/fresh_simulation.h"

namespace systole::tests {

/// What a core gives to its units, for a test of one unit whose neighbours the test writes. It records the
/// trace events of the unit.
struct UnitBench : FreshSimulation, hw::TraceListener {
    /// `threads`: of the value workers.
    explicit UnitBench(const machine::MachineConfig& its, hw::Values values = hw::Values::TimingOnly,
                       std::size_t threads = 0)
        : machine(its),
          workers(order, threads),
          ports(hw::port_places(machine), clock),
          context{.machine = machine,
                  .values = values,
                  .clock = clock,
                  .semaphores = semaphores,
                  .order = order,
                  .workers = workers,
                  .ports = ports,
                  .waits = waits,
                  .failure = failure,
                  .trace = this} {}

    /// A process of a neighbour.
    void process(std::function<void()> body) { hw::spawn("neighbour", failure, std::move(body)); }

    /// Waits for a cycle; for use in a process.
    void at(Cycle cycle) const { clock.wait_until(cycle); }

    /// Issues an instruction to a queue as the sequencer does; for use in a process. Waits while the queue is
    /// full. `behind`: what the instruction must come after.
    void issue(isa::QueueId id, hw::CommandSink& queue, const isa::Instruction& instruction, hw::Tag tag = 0,
               const isa::QueuePositions& behind = {}) {
        order.issue(static_cast<std::size_t>(id), next_, behind);
        hw::Command command{.number = next_++, .tag = tag};
        command.bound = {.instruction = instruction,
                         .registers = std::make_shared<const isa::Registers>(registers),
                         .footprint = program != nullptr
                                          ? isa::footprint(instruction, registers, *program)
                                          : isa::footprint(instruction, registers, geometry())};
        queue.push(std::move(command));
    }
    /// Issues a `sync` of the queue.
    void issue(hw::CommandSink& queue, hw::Command::Kind kind, std::uint8_t semaphore, hw::Tag tag = 0) {
        queue.push({.number = next_++, .tag = tag, .kind = kind, .semaphore = semaphore});
    }

    /// Runs all processes until nothing can happen any more.
    void run() {
        sc_core::sc_start();
        failure.rethrow();
    }

    /// A counter of the unit by the path of its group and its name: "host_read.busy_cycles".
    static const hw::Counter& counter(const hw::UnitModule& unit, std::string_view path) {
        std::vector<hw::PlacedCounters> groups = unit.counter_groups();
        groups.insert(groups.end(), unit.detail_groups().begin(), unit.detail_groups().end());
        return hw::find_counter(groups, path);
    }
    /// The sum of a group's counters of cycles.
    static Cycle cycles_of(const hw::UnitModule& unit, std::string_view group) {
        Cycle cycles = 0;
        for (const hw::PlacedCounters& placed : unit.counter_groups()) {
            if (placed.path != group) continue;
            for (const hw::Counter& each : *placed.group) {
                if (each.unit() == hw::CounterUnit::Cycles) cycles += each.value();
            }
        }
        return cycles;
    }

    isa::Geometry geometry() const {
        isa::Geometry geometry{.rows = machine.matrix_unit.rows, .columns = machine.matrix_unit.columns};
        if (machine.family == machine::Family::EdgeTpu) geometry.tiles = timing::grid_of(machine);
        geometry.tensor = timing::tensor_shape_of(machine);
        return geometry;
    }

    void instruction(const hw::InstructionTimes& times) override { instructions.push_back(times); }

    const machine::MachineConfig machine;
    hw::Clock clock;
    hw::Failure failure;
    hw::OrderChecker order;
    hw::Semaphores semaphores{clock, order};
    hw::ValueWorkers workers;
    hw::PortArbiter ports;
    hw::WaitHistory waits;
    const hw::UnitContext context;
    const isa::Program* program = nullptr;           ///< of instructions that refer to its parts
    isa::Registers registers;                        ///< of the instructions that are issued next
    std::vector<hw::InstructionTimes> instructions;  ///< in the order of their units

private:
    hw::InstructionNumber next_ = 0;
};

}  // namespace systole::tests
