#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <systemc>
#include <vector>

#include "hw/collective_unit/collective_unit.h"
#include "hw/common/unit_module.h"
#include "hw/core/core.h"
#include "hw/cross_lane_unit/cross_lane_unit.h"
#include "hw/dma/dma.h"
#include "hw/hbm/hbm.h"
#include "hw/host_processor/host_processor.h"
#include "hw/infeed/infeed.h"
#include "hw/isa/program.h"
#include "hw/matrix_unit/matrix_unit.h"
#include "hw/product_setup/product_setup.h"
#include "hw/sequencer/sequencer.h"
#include "hw/vector_memory/vector_memory.h"
#include "hw/vector_unit/vector_unit.h"
#include "hw/weight_load/weight_load.h"

namespace systole::hw {

/// A core of the family tensor_core: a systolic array and a vector unit that compute in floats, on a vector
/// memory beside a high-bandwidth memory.
class TensorCore final : public Core {
public:
    TensorCore(const sc_core::sc_module_name& name, const CoreContext& context, const isa::Program& program);

    std::vector<const UnitModule*> units() const override;
    std::vector<const UnitModule*> from_the_array() const override;
    // The words of the memories, row by row.
    std::span<const std::uint32_t> vector_memory() const { return vector_memory_.words(); }
    /// The core's part of the chip's memory.
    std::span<const std::uint32_t> hbm() const { return hbm_.words_of(core_of_chip_); }
    std::optional<double> product_seconds() const override { return matrix_unit_.gemm().seconds; }

private:
    std::span<CommandQueue* const> queues() const override { return queues_; }
    const Sequencer& sequencer() const override { return sequencer_; }

    VectorMemory vector_memory_;
    Hbm& hbm_;  ///< of the chip
    const std::size_t core_of_chip_;
    InfeedLink host_interface_;
    Dma dma_;
    WeightLoad weight_load_;
    MatrixUnit matrix_unit_;
    ProductSetup product_setup_;
    VectorUnit vector_unit_;
    CrossLaneUnit cross_lane_unit_;
    CollectiveUnit collective_unit_;
    HostProcessorUnit host_processor_;
    const std::array<CommandQueue*, 10> queues_;
    Sequencer sequencer_;
};

}  // namespace systole::hw
