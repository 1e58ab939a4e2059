#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hw/machine/machine_config.h"
#include "hw/timing/matrix_unit.h"

namespace systole::tpu_v1 {

/// When the units that compute products have done the work given to them, in cycles from the first row of
/// array input: a recurrence over streams and activations in program order. Each cost is a function of
/// hw/timing. The first tiles are in the weight FIFO, as if there had been time to fetch them before.
///
/// Left out are ports, row changes of a DRAM, and the issue of instructions other than fetches.
class UnitTimes {
public:
    explicit UnitTimes(const machine::MachineConfig& machine);

    /// The next stream may enter the array, the next rows may be activated.
    double matrix() const { return matrix_; }
    double activation() const { return activation_; }
    /// All work has been done, and its last results are in the unified buffer.
    double end() const;

    /// The fetch of a tile.
    struct Fetch {
        double cycles = 0;   ///< of weight memory, or of the host link
        double issued = 0;   ///< no fetch begins before its instruction is issued
        double latency = 0;  ///< from its end until the tile is in the FIFO
    };

    /// The cycle in which a stream begins whose rows and sums are ready at `ready`; with `fetch`, against a
    /// new tile, and otherwise against the one in the array.
    double stream_begin(double ready, const std::optional<Fetch>& fetch) const;
    /// Adds this stream. Returns the cycle in which its last sums are in the accumulators.
    double add_stream(const timing::StreamShape& stream, double ready, const std::optional<Fetch>& fetch);
    /// Adds work of the activation unit on what is complete at `ready`. Returns the cycle in which its
    /// results are in the unified buffer.
    double add_activation(double ready, double cycles);

    /// All times on which those of the next work depend, rings in the order of their use: if all are later by
    /// the same cycles, the same work takes the same cycles again. `fetches`: that work fetches tiles. Empty
    /// while it takes tiles that are in the FIFO from the beginning.
    std::vector<double> state(bool fetches) const;
    /// Makes all times of `state` later by some cycles.
    void advance(double cycles, bool fetches);

private:
    /// When the next tile, if it is fetched now, has been shifted into the array's shadow plane.
    double tile_in_array(const Fetch& fetch) const;
    /// When the fetch of the next tile ends, after which the memory may begin another.
    double fetched(const Fetch& fetch) const;
    /// When the tile left the FIFO whose place the next tile takes.
    double& place_free() { return shifted_[tiles_ % shifted_.size()]; }
    double place_free() const { return shifted_[tiles_ % shifted_.size()]; }

    double latency_;             ///< of the matrix unit
    double shift_;               ///< of a tile into the array
    double switch_;              ///< from the first row against a tile until the next one may shift in
    double activation_latency_;  ///< of the activation unit
    double matrix_ = 0;
    double activation_ = 0;
    double memory_ = 0;            ///< the next fetch may begin
    double shadow_free_ = 0;       ///< the shadow plane takes a tile
    std::size_t tiles_ = 0;        ///< fetched so far
    std::vector<double> shifted_;  ///< by place in the FIFO: its tile has left
};

}  // namespace systole::tpu_v1
