#include "compiler/schedule/lower_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace systole::schedule {
namespace {

/// The repeat field of matrix instructions counts 1 to 256 tiles.
constexpr std::uint32_t tiles_an_instruction = 256;

template <typename Work>
void append_chunk(PassContext& context, const ColumnTile& column, const Chunk& chunk,
                  std::uint32_t accumulator_row, bool keep_weights) {
    bool accumulate = false;
    for (const TileRun& run : column.runs) {
        for (std::uint32_t done = 0; done < run.tiles; done += tiles_an_instruction) {
            Work work;
            work.layer = context.layer;
            work.chunk = chunk;
            work.accumulator_row = accumulator_row;
            work.input = run.input;
            work.first_element_tile = run.first_element_tile + done;
            work.first_weight_tile = context.plan.first_weight_tile + run.first_weight_tile + done;
            work.tiles = std::min(tiles_an_instruction, run.tiles - done);
            work.accumulate = accumulate;
            work.keep_weights = keep_weights;
            context.operations.emplace_back(work);
            accumulate = true;
        }
    }
}

bool is_single_tile(const ColumnTile& column) {
    return column.runs.size() == 1 && column.runs.front().tiles == 1;
}

}  // namespace

void check_weights(const LayerView& view, std::uint64_t weights, std::uint64_t expected,
                   const quantized::Requantization& requantization) {
    view.require(weights == (view.network.has_weights ? expected : 0),
                 "the number of weights does not fit its shapes");
    const std::size_t channels = view.output().shape.channels;
    view.require(requantization.bias.size() == channels && requantization.multiplier.size() == channels &&
                     requantization.shift.size() == channels,
                 "the requantization must have one entry for each output channel");
}

void check_lines(const LayerView& view) {
    const ir::FeatureMap& output = view.output().shape;
    const AccumulatorParts accumulators(view.target.accumulator_rows);
    if (output.width > accumulators.rows()) {
        view.reject(fmt::format("an output line has {} pixels; it must fit the {} accumulator rows",
                                output.width, accumulators.rows()));
    }
    constexpr std::uint32_t most_lines = std::numeric_limits<std::uint16_t>::max();
    if (output.height > most_lines) {
        view.reject(
            fmt::format("the output has {} lines; there may be at most {}", output.height, most_lines));
    }
}

std::uint32_t accumulator_parts(const PassContext& context) {
    const std::vector<ColumnTile>& columns = context.plan.tiling.columns;
    if (!std::all_of(columns.begin(), columns.end(), is_single_tile)) return AccumulatorParts::halves;
    std::uint32_t parts = context.accumulators.parts_behind(context.view.target.activation_delay);
    while (parts > AccumulatorParts::halves &&
           context.view.output().shape.width > context.accumulators.part(parts)) {
        parts /= 2;
    }
    return parts;
}

std::vector<Chunk> matrix_chunks(const PassContext& context, std::uint32_t parts) {
    const ir::FeatureMap& output = context.view.output().shape;
    const std::uint32_t part = context.accumulators.part(parts);
    const std::uint32_t limit = output.width <= part ? part : context.accumulators.rows();
    return context.chunks(limit);
}

template <typename Work>
void lower_matrix_work(PassContext& context) {
    const std::uint32_t width = context.view.output().shape.width;
    const std::uint32_t parts = accumulator_parts(context);
    const std::vector<Chunk> chunks = matrix_chunks(context, parts);
    for (std::size_t j = 0; j < context.plan.tiling.columns.size(); ++j) {
        const ColumnTile& column = context.plan.tiling.columns[j];
        bool tile_in_array = false;
        for (const Chunk& chunk : chunks) {
            const std::uint32_t pixels = chunk.lines * width;
            const std::uint32_t accumulator_row = context.accumulators.take(pixels, parts);
            append_chunk<Work>(context, column, chunk, accumulator_row, tile_in_array);
            tile_in_array = is_single_tile(column);
            for (std::uint32_t s = 0; s < context.plan.segments[j].size(); ++s) {
                context.operations.emplace_back(ActivatePixels{.layer = context.layer,
                                                               .column = static_cast<std::uint32_t>(j),
                                                               .segment = s,
                                                               .accumulator_row = accumulator_row,
                                                               .first_image = chunk.first_image,
                                                               .first_pixel = chunk.first_line * width,
                                                               .pixels = pixels});
            }
        }
    }
}

template void lower_matrix_work<ConvolveLines>(PassContext& context);
template void lower_matrix_work<MultiplyImages>(PassContext& context);

}  // namespace systole::schedule
