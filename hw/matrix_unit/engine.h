#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <systemc>

#include "hw/common/clock.h"
#include "hw/common/matrix_interfaces.h"
#include "hw/common/registers.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/value_workers.h"
#include "hw/isa/queue.h"
#include "hw/math/gemm.h"
#include "hw/timing/matrix_unit.h"

namespace systole::hw {

/// A stream that enters the array in this cycle.
struct EnteringStream {
    const Stream& stream;
    timing::StreamShape shape;
    StreamRows rows;
    /// Its first accumulator row: integers, or the bits of float32. Null in a run without values.
    std::int32_t* sums = nullptr;
    std::size_t sums_stride = 0;  ///< words from one accumulator row to the next
    Cycle complete = 0;           ///< the cycle in which it is complete by rule 1 of docs/timing.md
};

/// The array with its two weight planes: takes tiles from the FIFO and streams from the data setup, and
/// writes the sums to the accumulators. Every engine gives the same cycles, the same idle cycles and the same
/// bits.
class MatrixEngine : public sc_core::sc_module {
public:
    /// Announces a stream whose rows are ready from this cycle on. Waits until earlier streams have passed
    /// the input and, unless the stream keeps the active tile, the stream's tile is in the shadow plane.
    virtual void offer(const Stream& stream) = 0;
    /// The tile that the offered stream is multiplied with.
    const Tile& tile_of(const Stream& stream) const { return stream.keep_weights ? active_ : shadow_; }
    /// Lets the offered stream enter in this cycle. Returns the idle cycles before it.
    virtual IdleCycles enter(EnteringStream entering) = 0;

    /// The cost of the matrix products so far.
    virtual math::GemmStatistics gemm() const { return {}; }

protected:
    /// The engine reports the times of each stream to the trace.
    MatrixEngine(const sc_core::sc_module_name& name, const UnitContext& context, TileSource& weights)
        : sc_module(name),
          clock_(context.clock),
          weights_(weights),
          workers_(context.workers),
          trace_(context.trace),
          queue_(context.queue(isa::QueueId::Matrix)),
          weight_switch_(context.machine.matrix_unit.weight_switch) {}

    /// Waits until the shadow plane holds the next stream's tile.
    void wait_for_tile();
    /// Sets the tile that is in the shadow plane from this cycle on.
    void fill_shadow(const Tile& tile);
    /// Makes the shadow plane's tile the active one, for the stream that enters.
    void switch_planes();
    void report(const InstructionTimes& times) {
        if (trace_ != nullptr) trace_->instruction(times);
    }

    const Clock& clock_;
    TileSource& weights_;
    ValueWorkers& workers_;
    TraceSink* const trace_;
    const std::size_t queue_;  ///< the matrix queue's number in the system
    const Cycle weight_switch_;

    Tile active_;  ///< tile of the plane that computes; no rows before the first switch
    Tile shadow_;  ///< tile of the plane that fills
    bool shadow_full_ = false;
    Cycle shadow_free_at_ = 0;  ///< from this cycle on the next tile may shift in
    sc_core::sc_event shadow_filled_;
    sc_core::sc_event shadow_freed_;
};

/// The engine that the machine selects. Engine "pe" reports the array's registers to `registers`, unless it
/// is null.
std::unique_ptr<MatrixEngine> make_engine(const UnitContext& context, TileSource& weights,
                                          RegisterSink* registers);

}  // namespace systole::hw
