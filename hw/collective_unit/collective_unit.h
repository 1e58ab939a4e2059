#pragma once

#include <cstddef>
#include <optional>
#include <systemc>
#include <vector>

#include "hw/common/collectives.h"
#include "hw/common/counter.h"
#include "hw/common/queued_unit.h"
#include "hw/common/tensor_interfaces.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/isa/queue.h"

namespace systole::hw {

struct CollectiveUnitCounters final : UnitCounters {
    Counter& sent_bytes = add("sent_bytes", CounterUnit::Bytes, "to the neighbours in the chain of cores");
    Counter& peer_cycles =
        add("peer_cycles", CounterUnit::Cycles, "other cores had not begun the same collective");
};

/// Moves and sums rows of all cores' vector memories, along a chain of the cores in the order of their
/// numbers.
///
/// Timing: a collective begins when all cores are there. Its rows go through the chain in chunks: a core
/// passes one on while it receives the next, in each direction at the rate of a link; see
/// `timing::collective_cost`.
class CollectiveUnit final : public QueuedUnit<CollectiveUnitCounters> {
public:
    /// `meeting`: of all cores.
    CollectiveUnit(const sc_core::sc_module_name& name, const UnitContext& context, Collectives& meeting,
                   WordMemoryAccess& vector_memory);

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    std::optional<AwaitedWork> awaited(isa::QueueId queue) const override;
    void execute(const Command& command);

    const std::size_t lanes_;
    Collectives& meeting_;
    WordMemoryAccess& vector_memory_;
};

}  // namespace systole::hw
