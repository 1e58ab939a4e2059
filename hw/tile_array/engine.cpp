#include "hw/tile_array/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace systole::hw {

EachTile::EachTile(const isa::TileGrid& grid) {
    for (std::uint32_t line = 0; line < grid.lines; ++line) {
        for (std::uint32_t column = 0; column < grid.columns; ++column) {
            names_.push_back(fmt::format("tile_{}_{}", line, column));
            macs_.push_back(&add(names_.back(), CounterUnit::Macs, "multiply-accumulates that results need"));
        }
    }
}

std::unique_ptr<TileEngine> make_tile_engine(const TileEngineContext& context) {
    switch (context.context.machine.tile_array.engine) {
        case machine::TileEngine::ClosedForm:
            return make_closed_form_engine(context);
        case machine::TileEngine::Lane:
            return make_lane_engine(context);
    }
    throw std::logic_error("an engine of tiles that does not exist");
}

std::uint64_t depthwise_macs_of(const Product& product, const ProductPart& part) {
    const timing::ProductCost& cost = product.cost;
    const std::uint64_t first = part.weights.first_row;
    const std::uint64_t before = cost.weight_rows(0, first) * isa::tile_word;
    const std::uint64_t end = cost.weight_rows(0, first + part.weights.rows) * isa::tile_word;
    const std::uint64_t taps = std::min(end, cost.blocks.weights) - std::min(before, cost.blocks.weights);
    return cost.pixels_of(part.repeat) * cost.blocks.outputs_of(part.group, product.grid) * taps;
}

}  // namespace systole::hw
