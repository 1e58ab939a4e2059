#include "compiler/target/tpu_v1/network/accumulator_parts.h"

namespace systole::tpu_v1 {
namespace {

std::uint32_t parts_of(const Tiling& tiling, std::uint32_t line_rows, const AccumulatorParts& accumulators,
                       std::optional<std::uint64_t> delay, std::uint32_t most_parts) {
    if (!std::all_of(tiling.columns.begin(), tiling.columns.end(), is_single_tile)) {
        return AccumulatorParts::halves;
    }
    std::uint32_t parts = delay ? accumulators.parts_behind(*delay, most_parts) : AccumulatorParts::quarters;
    while (parts > AccumulatorParts::halves && line_rows > accumulators.part(parts)) parts /= 2;
    return parts;
}

}  // namespace

bool is_single_tile(const ColumnTile& column) {
    return column.runs.size() == 1 && column.runs.front().tiles == 1;
}

ProductChunks cut_product(const Tiling& tiling, const ir::FeatureMap& grid, std::uint32_t images,
                          const AccumulatorParts& accumulators, std::optional<std::uint64_t> delay,
                          std::uint32_t most_parts) {
    const std::uint32_t parts = parts_of(tiling, grid.width, accumulators, delay, most_parts);
    const std::uint32_t part = accumulators.part(parts);
    const std::uint32_t limit = grid.width <= part ? part : accumulators.rows();
    return {.parts = parts, .chunks = cut_lines(grid, images, limit)};
}

}  // namespace systole::tpu_v1
