#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

#include "hw/common/counter.h"
#include "hw/common/matrix_interfaces.h"
#include "hw/common/queued_unit.h"
#include "hw/common/tensor_interfaces.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/isa/instruction.h"
#include "hw/isa/panels.h"

namespace systole::hw {

struct WeightLoadCounters final : UnitCounters {
    Counter& matrices = add("matrices", CounterUnit::Tiles, "matrices of weights shifted in");
    Counter& bytes = add("bytes", CounterUnit::Bytes, "weights read from vector memory");
    Counter& plane_cycles =
        add("plane_cycles", CounterUnit::Cycles, "the shadow plane had weights that no product had taken");
};

/// Shifts matrices of weights from vector memory into the shadow plane of the array.
///
/// Timing: an instruction begins when it is the first of the queue. Its weights shift in as soon as the
/// shadow plane is free, in a cycle for each of the array's rows; then it is complete.
class WeightLoad final : public QueuedUnit<WeightLoadCounters>, public TileSource {
public:
    WeightLoad(const sc_core::sc_module_name& name, const UnitContext& context,
               WordMemoryAccess& vector_memory);

    const Tile& front() override;
    void release() override;

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    std::optional<AwaitedWork> awaited(isa::QueueId queue) const override;
    void execute(const Command& command);
    /// Hands over the reading of the weights. Returns where they will be.
    const std::uint8_t* read(const isa::LoadWeights& load, const isa::Panels& panels);

    /// The matrices that products may still read: those in the two planes and the one that is next, and as
    /// many again, so that products need not be awaited for each.
    static constexpr std::size_t buffer_count = 8;

    const isa::TensorShape shape_;
    const Cycle shift_cycles_;
    WordMemoryAccess& vector_memory_;
    std::optional<Tile> tile_;  ///< read and not shifted in
    std::array<std::vector<float>, buffer_count> buffers_;
    std::size_t next_buffer_ = 0;
    sc_core::sc_event issued_;
    sc_core::sc_event shifted_;
};

}  // namespace systole::hw
