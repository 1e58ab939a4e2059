// The signals that waves show of the unit.
#include <algorithm>
#include <memory>

#include "hw/isa/queue.h"
#include "hw/weight_fifo/weight_fifo.h"

namespace systole::hw {
namespace {

class WeightFifoWaves final : public TraceListener {
public:
    WeightFifoWaves(WaveMaker& maker, std::uint32_t depth)
        : fetch_(maker.moved_tile("weight_memory.fetch", "weight_memory.tile")),
          tiles_(maker.level("weight_fifo.tiles", depth)),
          whole_(maker.level("weight_fifo.whole", depth)) {
        maker.shows(isa::QueueId::Weights);
    }

    void tile_fetched(const TileTimes& times) override {
        tiles_.come(times.fetched);
        whole_.come(times.whole);
        // Tiles are shown one after the other, as on the timeline.
        const Cycle begun = std::max(times.fetched, last_whole_);
        last_whole_ = std::max(times.whole, last_whole_);
        fetch_.hold(begun, last_whole_, times.tile);
    }
    void tile(const TileTimes& times) override {
        tiles_.go(times.shifted);
        whole_.go(times.shifted);
    }

private:
    NumberedWave fetch_;
    LevelWave& tiles_;
    LevelWave& whole_;
    Cycle last_whole_ = 0;
};

}  // namespace

std::unique_ptr<TraceListener> WeightFifo::waves(WaveMaker& maker) const {
    return std::make_unique<WeightFifoWaves>(maker, depth_);
}

}  // namespace systole::hw
