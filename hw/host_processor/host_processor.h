#pragma once

#include <systemc>

#include "hw/common/clock.h"
#include "hw/common/command_queue.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/order_checker.h"
#include "hw/common/process.h"
#include "hw/common/trace.h"
#include "hw/common/unit_counters.h"
#include "hw/common/unit_module.h"
#include "hw/common/value_workers.h"
#include "hw/common/wait_history.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

struct HostProcessorCounters final : UnitCounters {
    Counter& segments = add("segments", CounterUnit::Instructions, "host_work instructions");
    Counter& images = add("images", CounterUnit::Elements, "inferences of segments");
};

/// The host's processor as the chip sees it: a unit with a queue, whose instructions are the segments of the
/// network that the chip cannot compute.
///
/// Timing (docs/timing.md, rule 9): the interrupt takes the link's latency to the host, the host works, and
/// its answer takes the latency back. The interrupt of the next segment leaves when the host has finished.
class HostProcessorUnit final : public UnitModule {
public:
    /// Without a processor, the program must have no host_work.
    HostProcessorUnit(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
                      const isa::Program& program, isa::HostProcessor* processor, Values values,
                      const Clock& clock, Semaphores& semaphores, OrderChecker& order, ValueWorkers& workers,
                      HostMemoryAccess& memory, WaitHistory& waits, Failure& failure, TraceSink* trace);

    CommandQueue& queue() { return queue_; }

    /// The program ended at this cycle.
    void finish(Cycle end, Tag tag) { counters_.finish(end, tag); }

private:
    void run();
    void compute(const isa::HostWork& work, InstructionNumber number);

    const machine::MachineConfig machine_;
    const isa::Program& program_;
    isa::HostProcessor* const processor_;
    const Values values_;
    const Clock& clock_;
    OrderChecker& order_;
    ValueWorkers& workers_;
    HostMemoryAccess& memory_;
    UnitHistory& history_;
    TraceSink* const trace_;
    CommandQueue queue_;
    HostProcessorCounters counters_;
};

}  // namespace systole::hw
