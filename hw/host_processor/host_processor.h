#pragma once

#include <systemc>

#include "hw/common/command_queue.h"
#include "hw/common/host_link.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/queued_unit.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/program.h"

namespace systole::hw {

struct HostProcessorCounters final : UnitCounters {
    /// `is_shared`: by several cores; reports of machines with one core have no counter for it.
    explicit HostProcessorCounters(bool is_shared) {
        if (!is_shared) return;
        other_core_cycles =
            &add("other_core_cycles", CounterUnit::Cycles, "the processor worked for another core");
    }
    Counter* other_core_cycles = nullptr;
    Counter& segments = add("segments", CounterUnit::Instructions, "host_work instructions");
    Counter& images = add("images", CounterUnit::Elements, "inferences of segments");
};

/// Who computes segments, and the memory with their operands and results.
struct HostWorker {
    isa::HostProcessor* processor = nullptr;  ///< null: no program has segments
    HostMemoryAccess& memory;
};

/// The host's processor as the chip sees it: a unit with a queue, whose instructions are the segments of the
/// network that the chip cannot compute.
///
/// Timing (docs/timing.md, rule 9): the interrupt takes the link's latency to the host, the host works, and
/// its answer takes the latency back. The interrupt of the next segment leaves when the host has finished.
class HostProcessorUnit final : public QueuedUnit<HostProcessorCounters> {
public:
    /// Without a processor, the program must have no host_work.
    HostProcessorUnit(const sc_core::sc_module_name& name, const UnitContext& context, HostLink& link,
                      const isa::Program& program, const HostWorker& worker);

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    void execute(const Command& command);
    void compute_segment(const isa::HostWork& work);

    const isa::Program& program_;
    isa::HostProcessor* const processor_;
    HostLink& link_;
    HostMemoryAccess& memory_;
};

}  // namespace systole::hw
