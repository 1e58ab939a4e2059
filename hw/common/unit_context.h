#pragma once

#include <cstddef>

#include "hw/common/clock.h"
#include "hw/common/order_checker.h"
#include "hw/common/port_arbiter.h"
#include "hw/common/process.h"
#include "hw/common/semaphores.h"
#include "hw/common/shared_accesses.h"
#include "hw/common/trace.h"
#include "hw/common/value_workers.h"
#include "hw/common/wait_history.h"
#include "hw/isa/queue.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

/// What every unit of a core gets: the machine and what the units of the core share. A unit keeps a copy; the
/// objects must outlive the unit.
struct UnitContext {
    const machine::MachineConfig& machine;
    Values values;
    const Clock& clock;
    Semaphores& semaphores;
    OrderChecker& order;
    ValueWorkers& workers;
    PortArbiter& ports;
    WaitHistory& waits;
    Failure& failure;
    TraceSink* trace = nullptr;  ///< null for none
    std::size_t core = 0;        ///< its number in the system
    std::size_t cores = 1;
    Semaphores* shared_semaphores = nullptr;    ///< null in a system of one core
    SharedAccesses* shared_accesses = nullptr;  ///< null in a system of one core

    /// The number of one of the core's queues in the system, for OrderChecker, ValueWorkers and Semaphores.
    std::size_t queue(isa::QueueId id) const {
        return core * isa::queue_count + static_cast<std::size_t>(id);
    }
    bool computes_values() const { return values == Values::Computed; }
};

}  // namespace systole::hw
