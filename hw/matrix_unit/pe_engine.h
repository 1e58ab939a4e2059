#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "hw/matrix_unit/engine.h"
#include "hw/matrix_unit/pe_array.h"

namespace systole::hw {

/// The reference engine: computes every register of every cell in every cycle. At the end of each cycle it
/// puts the entering values into the array, advances the registers once, and records what happened: a tile is
/// in its plane, the last sum is written, the reason of an idle cycle. If a stream completes in another cycle
/// than docs/timing.md says, it throws std::logic_error. Arrays of floats report no registers.
template <class Cells>
class PeEngine final : public MatrixEngine {
public:
    PeEngine(const sc_core::sc_module_name& name, const UnitContext& context, TileSource& weights,
             RegisterSink* registers);

    void offer(const Stream& stream) override;
    IdleCycles enter(EnteringStream entering) override;

private:
    /// A stream from its entry until it is complete.
    struct Passing {
        Stream stream;
        timing::StreamShape shape;
        RowBlock rows;
        std::int32_t* sums = nullptr;
        std::size_t sums_stride = 0;
        std::size_t tile_rows = 0;     ///< elements of a row
        std::size_t tile_columns = 0;  ///< sums of a row
        Cycle begun = 0;
        Cycle promised = 0;  ///< the cycle in which it is complete by rule 1
        Cycle passes_entered = 0;
        std::optional<Cycle> passed_at = {};  ///< its last line has passed the input
        std::optional<Cycle> summed_at = {};  ///< its last sum is in the accumulators
    };

    // Processes: tiles from the FIFO to the array's edge; the registers.
    void feed_tiles();
    void move_registers();

    void cycle(Cycle now);
    /// The registers move once.
    void step(Cycle now);
    void enter_row(Cycle now);
    /// A row enters each array: rows from this one on; behind the stream's last one, a row without sums.
    void enter_pass(Passing& passing, std::uint64_t row, std::uint64_t pass);
    bool is_moving() const;
    void enter_word();
    void report_complete();
    bool can_shift(Cycle now) const;
    /// The first condition missing in a cycle without a stream at the input (docs/timing.md, rule 8).
    Cycle IdleCycles::*idle_reason(Cycle now) const;
    /// Counts the cycles until now, in which the array was at rest, for the reason of the first of them.
    void account_rest(Cycle now);
    /// The next cycle to compute. If the array is at rest, waits for it.
    Cycle next_cycle(Cycle now);

    const Cycle shift_cycles_;
    RegisterSink* const registers_;
    std::vector<PeArray<Cells>> arrays_;  ///< each takes every so-manieth row; all have the same weights
    // The row and the word row that enter, assembled here.
    std::vector<typename Cells::Element> elements_;
    std::vector<typename Cells::Weight> words_;

    std::optional<Tile> head_;         ///< at the head of the FIFO, from its issue until it is shifted in
    std::uint64_t words_entered_ = 0;  ///< number of its rows that have entered the array
    sc_core::sc_event shifted_;

    const Stream* offered_ = nullptr;  ///< the stream whose rows are ready
    std::deque<Passing> passing_;      ///< oldest first
    std::vector<std::uint8_t> rows_;   ///< rows of the stream at the input, if they are assembled
    bool at_input_ = false;            ///< the last of passing_ is at the input
    sc_core::sc_event input_freed_;

    sc_core::sc_event changed_;  ///< wakes the array at rest
    Cycle accounted_until_ = 0;
    Cycle IdleCycles::*resting_ = &IdleCycles::without_rows;
    IdleCycles idle_;  ///< idle cycles since the last stream
};

}  // namespace systole::hw
