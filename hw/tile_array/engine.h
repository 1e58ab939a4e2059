#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/cycle.h"
#include "hw/common/counter.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/tile_interfaces.h"
#include "hw/common/unit_context.h"
#include "hw/common/value_workers.h"
#include "hw/tile_array/work.h"

namespace systole::hw {

/// What the tiles did.
struct TileWorkCounters final : CounterGroup {
    Counter& multiply_cycles = add("multiply_cycles", CounterUnit::Cycles, "the tiles multiplied");
    Counter& vector_cycles = add("vector_cycles", CounterUnit::Cycles, "the tiles worked without weights");
    Counter& useful_macs = add("useful_macs", CounterUnit::Macs, "multiply-accumulates that results need");
    Counter& unused_macs =
        add("unused_macs", CounterUnit::Macs, "lanes without work in cycles in which the tiles multiplied");
    Counter& results = add("results", CounterUnit::Elements, "elements written to narrow memory");
    Counter& read_bytes = add("read_bytes", CounterUnit::Bytes, "read from narrow memory");
    Counter& dense_bytes =
        add("dense_bytes", CounterUnit::Bytes, "weights that tiles read from their own wide memory");
};

/// The multiply-accumulates of each tile.
class EachTile final : public CounterGroup {
public:
    explicit EachTile(const isa::TileGrid& grid);

    Counter& operator[](std::size_t tile) { return *macs_[tile]; }

private:
    std::deque<std::string> names_;
    std::vector<Counter*> macs_;
};

struct TileCounters {
    explicit TileCounters(const isa::TileGrid& grid) : each(grid) {}

    TileWorkCounters work;
    EachTile each;
};

/// A part of a block that has arrived.
struct ProductPart {
    std::uint64_t repeat = 0;
    std::uint64_t group = 0;
    bool ends_block = false;
    const WeightPart& weights;
    /// Of a depthwise product: multiply-accumulates of the fullest tile in the parts before.
    std::uint64_t macs_before = 0;
};

/// How the tiles are computed. Every engine takes the same cycles, counts the same and gives the same bits.
/// Each function takes the time of the work and returns in the cycle in which it is done.
class TileEngine {
public:
    virtual ~TileEngine() = default;

    /// A convolution or a depthwise product begins; its parts follow. `parameters` are its blocks, null in a
    /// run without values.
    virtual void begin(const Product& product, const std::uint8_t* parameters) = 0;
    virtual void part(const Product& product, const ProductPart& part) = 0;
    /// After the last part.
    virtual void end(const Product& product) = 0;
    virtual void dense(const Product& product) = 0;
    virtual void vector(const VectorWork& work) = 0;
};

/// What an engine works with.
struct TileEngineContext {
    const UnitContext& context;
    std::size_t queue = 0;  ///< of the tiles, in the system
    NarrowMemoryAccess& narrow;
    WideMemoryAccess& wide;
    TileCounters& counters;
};

/// The engine that the machine selects.
std::unique_ptr<TileEngine> make_tile_engine(const TileEngineContext& context);
std::unique_ptr<TileEngine> make_closed_form_engine(const TileEngineContext& context);
std::unique_ptr<TileEngine> make_lane_engine(const TileEngineContext& context);

/// The multiply-accumulates of a part of a depthwise product in the fullest tile.
std::uint64_t depthwise_macs_of(const Product& product, const ProductPart& part);

}  // namespace systole::hw
