#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <systemc>
#include <vector>

#include "hw/common/unit_module.h"
#include "hw/core/core.h"
#include "hw/host_processor/host_processor.h"
#include "hw/isa/program.h"
#include "hw/mesh/mesh.h"
#include "hw/narrow_memory/narrow_memory.h"
#include "hw/ring/ring.h"
#include "hw/sequencer/sequencer.h"
#include "hw/tile_array/tile_array.h"
#include "hw/tile_link/tile_link.h"
#include "hw/wide_memory/wide_memory.h"

namespace systole::hw {

/// A core of the family edge_tpu: tiles with memories of their own, a ring and a mesh between them.
class EdgeTpuCore final : public Core {
public:
    EdgeTpuCore(const sc_core::sc_module_name& name, const CoreContext& context, const isa::Program& program);

    std::vector<const UnitModule*> units() const override;
    std::vector<const UnitModule*> from_the_array() const override;
    /// The bytes of a tile's narrow memory, and those of all wide memories.
    std::span<const std::uint8_t> narrow_memory(std::size_t tile) const { return narrow_memory_.bytes(tile); }
    std::span<const std::uint8_t> wide_memory() const { return wide_memory_.bytes(); }

private:
    std::span<CommandQueue* const> queues() const override { return queues_; }
    const Sequencer& sequencer() const override { return sequencer_; }

    NarrowMemory narrow_memory_;
    WideMemory wide_memory_;
    TileLink host_interface_;
    RingBus ring_;
    Mesh mesh_;
    TileArray tile_array_;
    HostProcessorUnit host_processor_;
    const std::array<CommandQueue*, 6> queues_;
    Sequencer sequencer_;
};

}  // namespace systole::hw
