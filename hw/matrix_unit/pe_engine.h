#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "hw/matrix_unit/engine.h"
#include "hw/matrix_unit/pe_array.h"

namespace systole::hw {

/// Every register of every cell, every cycle: the reference that the other engines are held to. It looks at
/// the array at the end of each cycle, puts in what enters, lets the registers move once, and takes down
/// what it sees: when a tile is in its plane, when the last sum is written, what an idle cycle lacked. A
/// stream that is complete in another cycle than docs/timing.md says is an error of the simulator.
class PeEngine final : public MatrixEngine {
public:
    PeEngine(const sc_core::sc_module_name& name, const EngineContext& context);

    void offer(const Stream& stream, WaitState& state) override;
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
        Cycle promised = 0;  ///< when rule 1 says it is complete
        Cycle passes_entered = 0;
        std::optional<Cycle> passed_at = {};  ///< its last line is behind the input
        std::optional<Cycle> summed_at = {};  ///< its last sum is in the accumulators
    };

    // Processes: tiles from the FIFO to the array's edge; the registers.
    void feed_tiles();
    void move_registers();

    void cycle(Cycle now);
    /// The registers move once.
    void step(Cycle now);
    void enter_row(Cycle now);
    void enter_pass(Passing& passing, std::uint64_t row, std::uint64_t pass);
    void enter_word();
    void report_complete();
    bool can_shift(Cycle now) const;
    /// The first condition missing in a cycle without a stream at the input (docs/timing.md, rule 8).
    Cycle IdleCycles::*idle_reason(Cycle now) const;
    /// Until now the array was at rest: each cycle lacked what the first one did.
    void account_rest(Cycle now);
    /// The next cycle to look at, once it has come if the array is at rest until then.
    Cycle next_cycle(Cycle now);

    const Cycle shift_cycles_;
    RegisterSink* const registers_;
    PeArray array_;
    std::vector<std::int16_t> elements_, words_;  ///< that enter, put together

    std::optional<Tile> head_;         ///< at the head of the FIFO, from its issue until it is shifted in
    std::uint64_t words_entered_ = 0;  ///< rows of it that have entered the array
    sc_core::sc_event shifted_;

    const Stream* offered_ = nullptr;  ///< its rows are there
    std::deque<Passing> passing_;      ///< oldest first
    std::vector<std::uint8_t> rows_;   ///< of the stream at the input, where they are put together
    bool at_input_ = false;            ///< the last of them
    sc_core::sc_event input_freed_;

    sc_core::sc_event changed_;  ///< something that the array at rest waits for
    Cycle accounted_until_ = 0;
    Cycle IdleCycles::*resting_ = &IdleCycles::without_rows;
    IdleCycles idle_;  ///< since the last stream
};

}  // namespace systole::hw
