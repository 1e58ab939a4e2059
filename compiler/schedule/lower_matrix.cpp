// Products of inputs and weights in the matrix unit, and the activation of their sums.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/mapping/accumulator_parts.h"
#include "compiler/mapping/pixel_block.h"
#include "compiler/schedule/lowering.h"

namespace systole::schedule {
namespace {

/// The repeat field of matrix instructions counts 1 to 256 tiles.
constexpr std::uint32_t tiles_an_instruction = 256;

template <typename Work>
void append_chunk(LayerLowering& context, const mapping::ColumnTile& column, const mapping::Chunk& chunk,
                  std::uint32_t accumulator_row, bool keep_weights) {
    bool accumulate = false;
    for (const mapping::TileRun& run : column.runs) {
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

/// Checks that the number of weights fits the shapes (or is 0 in a network without weights), and that there
/// are parameters for each output channel.
void check_weights(const LayerView& view, const mapping::MatrixProduct& product, std::uint64_t expected) {
    const std::uint64_t bytes = expected * bytes_of(product.weight_type);
    view.require(product.weights.bytes().size() == (view.network.has_weights ? bytes : 0),
                 "the number of weights does not fit its shapes");
    const std::size_t channels = view.output().shape.channels;
    const mapping::Requantization& requantization = product.requantization;
    view.require(requantization.bias.size() == channels && requantization.multiplier.size() == channels &&
                     requantization.shift.size() == channels,
                 "the requantization must have one entry for each output channel");
}

/// Checks that instructions can address the lines of the layer's output and that a line fits in the
/// accumulators.
void check_lines(const LayerView& view, const ir::FeatureMap& output) {
    const mapping::AccumulatorParts accumulators(view.target.accumulator_rows);
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

/// Checks that a row of sums holds the plan's block.
void check_block(const LayerView& view, const LayerPlan& plan) {
    view.require(plan.block.pixels() == 1 || plan.columns <= view.target.geometry.columns,
                 "a block of pixels must fit the array's columns");
}

/// The tiles of a window of blocks.
mapping::Tiling tiling_of_blocks(const ir::Window& window, const LayerView& view, const LayerPlan& plan) {
    const std::uint64_t elements = mapping::window_of_blocks(window, plan.block).kernel_elements();
    return mapping::dense_tiling(elements * view.input().shape.channels, plan.columns, view.target.geometry);
}

/// Plans a convolution: its windows are streamed against the tiles of the weight matrix, which has a row for
/// each window element and a column for each filter. The matrix is zero unless input and output channel are
/// of one group. Tiles that contain only such zeros are neither stored nor streamed; of a convolution that is
/// not depthwise, only if the mapping says so.
void plan_convolution(const mapping::MatrixProduct& product, const LayerView& view, LayerPlan& plan) {
    const ir::Window& window = *product.window;
    const std::uint32_t input_channels = view.input().shape.channels;
    const std::uint32_t filters = view.output().shape.channels;
    const std::uint32_t groups = product.groups;
    check_window(view, window);
    view.require(groups > 0 && input_channels % groups == 0 && filters % groups == 0,
                 "the groups must have equal numbers of channels");
    check_weights(view, product, window.kernel_elements() * (input_channels / groups) * filters);
    check_lines(view, plan.grid);
    check_block(view, plan);
    const bool is_depthwise = groups > 1 && groups == input_channels;
    plan.kind = is_depthwise ? "depthwise_convolution" : "convolution";
    const bool skips = groups > 1 && (is_depthwise || view.target.mapping.skip_zero_tiles);
    plan.tiling = skips && plan.block.pixels() == 1
                      ? mapping::grouped_tiling(window, input_channels, groups, filters, view.target.geometry)
                      : tiling_of_blocks(window, view, plan);
}

/// Plans a dense layer: row t of each image's input tensor (two rows of 16-bit elements) is multiplied with
/// tile t. Each of several inputs has its own tiles; the products are added up.
void plan_dense(const mapping::MatrixProduct& product, const LayerView& view, LayerPlan& plan) {
    std::vector<std::uint64_t> inputs;
    std::uint64_t all_inputs = 0;
    for (std::size_t i = 0; i < view.layer.inputs.size(); ++i) {
        view.require(view.input(i).type == view.input().type, "inputs of a dense layer must be of one type");
        inputs.push_back(view.input(i).shape.elements());
        all_inputs += inputs.back();
    }
    const std::uint32_t outputs = view.output().shape.channels;
    view.require(view.output().shape.elements() == outputs, "the output of a dense layer must be a vector");
    check_weights(view, product, all_inputs * outputs);
    plan.kind = "dense";
    plan.tiling = mapping::dense_tiling(inputs, plan.columns, view.target.geometry);
}

/// The chunks of the layer's rows of sums, for the images of the context.
mapping::ProductChunks product_chunks(const LayerLowering& context) {
    const Target& target = context.view.target;
    const auto delay = target.mapping.parts_by_delay ? std::optional(target.activation_delay) : std::nullopt;
    mapping::ProductChunks cut = mapping::cut_product(context.plan.tiling, context.plan.grid, context.images,
                                                      context.accumulators, delay);
    for (mapping::Chunk& chunk : cut.chunks) chunk.first_image += context.first_image;
    return cut;
}

/// Sends the rows of each image that a column tile has filled.
void send_column(LayerLowering& context, const mapping::ColumnTile& column) {
    context.operations.emplace_back(
        WriteOutput{.first_inference = context.first_inference,
                    .first_image = context.first_image,
                    .images = context.images,
                    .part = *context.output_part,
                    .rows = rows_of_channels(context.view.output(), context.view.target, column.first_channel,
                                             column.channels)});
}

/// Appends `Work` (ConvolveLines or MultiplyImages) and activations for all chunks and tiles of the layer.
///
/// Column tiles are the outer loop, chunks the inner loop. So parameters change once for each column tile,
/// and the weights of a column with a single tile stay in the array for all chunks. With more tiles in a
/// column, each chunk fetches them again; the other order of loops would not avoid this, because the
/// accumulators hold one chunk only.
template <typename Work>
void lower_matrix_work(LayerLowering& context) {
    const std::uint32_t width = context.plan.grid.width;
    const auto [parts, chunks] = product_chunks(context);
    for (std::size_t j = 0; j < context.plan.tiling.columns.size(); ++j) {
        const mapping::ColumnTile& column = context.plan.tiling.columns[j];
        bool tile_in_array = false;
        for (const mapping::Chunk& chunk : chunks) {
            const std::uint32_t pixels = chunk.lines * width;
            const std::uint32_t accumulator_row = context.accumulators.take(pixels, parts);
            append_chunk<Work>(context, column, chunk, accumulator_row, tile_in_array);
            tile_in_array = mapping::is_single_tile(column);
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
        if (context.output_part) send_column(context, column);
    }
}

}  // namespace

void plan(const mapping::MatrixProduct& product, const LayerView& view, LayerPlan& plan) {
    if (!product.window) return plan_dense(product, view, plan);
    plan_convolution(product, view, plan);
}

void lower(const mapping::MatrixProduct& product, LayerLowering& context) {
    if (product.window) return lower_matrix_work<ConvolveLines>(context);
    lower_matrix_work<MultiplyImages>(context);
}

}  // namespace systole::schedule
