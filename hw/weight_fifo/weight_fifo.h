#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/matrix_interfaces.h"
#include "hw/common/queued_unit.h"
#include "hw/common/ring_queue.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/common/unit_waves.h"
#include "hw/common/weight_link.h"
#include "hw/isa/footprint.h"
#include "hw/isa/program.h"

namespace systole::hw {

struct WeightFifoCounters final : UnitCounters {
    Counter& tiles = add("tiles", CounterUnit::Tiles, "tiles fetched");
    Counter& bytes = add("bytes", CounterUnit::Bytes, "bytes fetched from weight memory");
    Counter& spilled_bytes = add("spilled_bytes", CounterUnit::Bytes, "bytes fetched over the host link");
    Counter& shifted_bytes = add("shifted_bytes", CounterUnit::Bytes, "bytes that left for the array");
    Counter& full_cycles = add("full_cycles", CounterUnit::Cycles, "a fetch waited for a free slot");
    Counter& link_cycles =
        add("link_cycles", CounterUnit::Cycles, "a spilled tile was on the host link, or waited for it");
};

/// Where a fetch leaves the values of a tile that is in weight memory.
enum class TileValues : std::uint8_t {
    /// In the memory, where TLM-2.0 direct access allows it. The memory must neither change the values nor
    /// take the access back: the array reads them long after the fetch.
    InMemory,
    /// In a copy, which the memory writes when it is read. Direct access is not asked for.
    Copied
};

/// Fetches weight tiles in program order and holds them until they are shifted into the array.
///
/// Timing: a slot is taken when its fetch is issued and is free again when its tile has been shifted out.
/// `read_weights` is complete when its last fetch has been issued. The FIFO adds no cycle of its own: a
/// waiting process resumes in the cycle of the event. A spilled tile (WeightMemoryConfig::spill) comes over
/// the host link; the next fetch is issued when its last byte has left the host.
class WeightFifo final : public QueuedUnit<WeightFifoCounters>, public TileSource, public ArrivedWeights {
public:
    /// `shared`: weight memory, if others use it, too; else null, and `memory` is read.
    WeightFifo(const sc_core::sc_module_name& name, const UnitContext& context, WeightLink& link,
               SharedWeights* shared = nullptr);

    /// Loads the list of the program's tiles, which lie in weight memory from `address` on; their values are
    /// read from there. The program must outlive the FIFO.
    void load(const isa::Program& program, TileValues where, std::uint64_t address = 0);

    const Tile& front() override;
    void release() override;
    std::uint64_t from_memory(const Amounts& amounts) const override;

    tlm_utils::simple_initiator_socket<WeightFifo> memory{"memory"};

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    std::unique_ptr<TraceListener> waves(WaveMaker& maker) const override;
    std::optional<AwaitedWork> awaited(isa::QueueId queue) const override;
    void execute(const Command& command);
    void fetch(InstructionNumber instruction, std::uint32_t number, Tag tag);
    struct StoredTile {
        std::uint64_t address = 0;
        std::uint64_t fetched_bytes = 0;
        bool spilled = false;
        bool written = false;  ///< by the program: a fetch copies the values
        Tile shape;
        std::span<const std::uint8_t> values = {};  ///< of a spilled tile, in host memory
    };
    /// Issues the read of a tile in weight memory. Sets when it is whole, and its values.
    void read_memory(const StoredTile& stored, Tile& tile);
    void request(const StoredTile& stored, Tile& tile);
    /// Sets when the tile at the front is whole, as soon as that is known.
    void time_front();
    /// A buffer for a copy of a tile, whose values no job uses any more.
    std::vector<std::uint8_t>& free_buffer();
    /// A pointer to the tile's values in the memory; null if they are to be copied.
    const std::uint8_t* direct_values(std::uint64_t address, std::uint64_t bytes);

    const std::uint32_t depth_;
    WeightLink& link_;
    SharedWeights* const shared_;
    tlm::tlm_generic_payload payload_;  ///< payload of the current fetch
    std::vector<StoredTile> stored_;
    TileValues where_ = TileValues::Copied;
    RingQueue<Tile> tiles_;
    RingQueue<TileTimes> times_;  ///< of tiles_; empty without a trace
    /// For values that are copied, or that the program writes: one buffer for each slot and two for the tiles
    /// in the array's two planes.
    std::vector<std::vector<std::uint8_t>> buffers_;
    std::size_t next_buffer_ = 0;
    tlm::tlm_dmi direct_;  ///< the last direct access that the memory granted
    sc_core::sc_event issued_;
    sc_core::sc_event freed_;
};

}  // namespace systole::hw
