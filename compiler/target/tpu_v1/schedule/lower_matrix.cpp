// Products of inputs and weights in the matrix unit, and the activation of their sums.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/target/tpu_v1/network/accumulator_parts.h"
#include "compiler/target/tpu_v1/network/array_weights.h"
#include "compiler/target/tpu_v1/network/pixel_block.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"

namespace systole::tpu_v1 {
namespace {

/// The repeat field of matrix instructions counts 1 to 256 tiles.
constexpr std::uint32_t tiles_an_instruction = 256;

template <typename Work>
void append_chunk(LayerLowering& context, const ColumnTile& column, const PixelBlock& block,
                  const Chunk& chunk, std::uint32_t accumulator_row, bool keep_weights) {
    bool accumulate = false;
    for (const TileRun& run : column.runs) {
        for (std::uint32_t done = 0; done < run.tiles; done += tiles_an_instruction) {
            Work work;
            work.layer = context.layer;
            work.block = block;
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
void check_weights(const LayerView& view, const MatrixProduct& product, std::uint64_t expected) {
    const std::uint64_t bytes = expected * bytes_of(product.weight_type);
    const bool has_weights = view.network.has_weights && !writes_weights(product);
    view.require(product.weights.bytes().size() == (has_weights ? bytes : 0),
                 "the number of weights does not fit its shapes");
    const std::size_t channels = view.output().shape.channels;
    const Requantization& rules = product.requantization;
    const bool is_real = isa::are_real(rules.multipliers());
    const std::size_t fixed = is_real ? 0 : channels;
    view.require(rules.bias.size() == channels && rules.multiplier.size() == fixed &&
                     rules.shift.size() == fixed && rules.real_multiplier.size() == channels - fixed,
                 "the requantization must have one entry for each output channel");
}

/// Checks that instructions can address the lines of the layer's output and that a line fits in the
/// accumulators.
void check_lines(const LayerView& view, const ir::FeatureMap& output) {
    const AccumulatorParts accumulators(view.target.accumulator_rows);
    if (output.width > accumulators.rows()) {
        view.reject(fmt::format("an output line has {} pixels; it must fit the {} accumulator rows",
                                output.width, accumulators.rows()));
    }
    if (output.height > most_lines) {
        view.reject(
            fmt::format("the output has {} lines; there may be at most {}", output.height, most_lines));
    }
}

/// The tiles of a part of a convolution: of the window of its blocks, from an output channel on.
Tiling tiling_of_part(const MatrixProduct& product, const LayerView& view, PlanPart& part,
                      bool skips_groups) {
    const std::uint32_t input_channels = view.input().shape.channels;
    view.require(part.block.pixels() == 1 || part.columns <= view.target.geometry.columns,
                 "a block of pixels must fit the array's columns");
    check_lines(view, part.grid);
    part.elements = window_of_blocks(*product.window, part.block).kernel_elements() * input_channels;
    const bool is_whole = part.columns == view.output().shape.channels;
    const bool by_groups = skips_groups && part.block.pixels() == 1 && is_whole;
    return convolution_tiling({.window = *product.window,
                               .block = part.block,
                               .input_channels = input_channels,
                               .groups = by_groups ? product.groups : 1,
                               .columns = part.columns},
                              view.target.geometry);
}

/// Plans a convolution: its windows are streamed against the tiles of the weight matrix, which has a row for
/// each window element and a column for each filter. The matrix is zero between the elements of a dilated
/// kernel, and unless input and output channel are of one group. Tiles that contain only such zeros are
/// neither stored nor streamed; zeros of other groups in a convolution that is not depthwise count only if
/// the mapping says so.
void plan_convolution(const MatrixProduct& product, const LayerView& view, LayerPlan& plan) {
    const ir::Window& window = *product.window;
    const std::uint32_t input_channels = view.input().shape.channels;
    const std::uint32_t filters = view.output().shape.channels;
    const std::uint32_t groups = product.groups;
    check_window(view, window);
    view.require(groups > 0 && input_channels % groups == 0 && filters % groups == 0,
                 "the groups must have equal numbers of channels");
    check_weights(view, product, window.kernel_elements() * (input_channels / groups) * filters);
    const bool is_depthwise = groups > 1 && groups == input_channels;
    plan.kind = is_depthwise ? "depthwise_convolution" : "convolution";
    const bool skips = groups > 1 && (is_depthwise || view.target.mapping.skip_zero_tiles);
    for (PlanPart& part : plan.parts) {
        part.first_tile = plan.tiling.columns.size();
        const Tiling tiling = tiling_of_part(product, view, part, skips);
        part.column_tiles = tiling.columns.size();
        if (part.first_tile == 0) {
            plan.tiling = tiling;
        } else {
            append_columns(plan.tiling, tiling);
        }
    }
}

/// Plans a product whose weights the program writes: each line is streamed against tiles of its own, which
/// take the places of those of the line before.
void plan_written(const MatrixProduct& product, const LayerView& view, LayerPlan& plan) {
    const MatrixProduct::Written& how = *product.written;
    const HeadMatrices input = head_matrices(view.input().shape, how.swapped_input);
    const HeadMatrices weights = head_matrices(view.input(1).shape, how.swapped_weights);
    const HeadMatrices output = head_matrices(view.output().shape, how.swapped_output);
    const std::uint32_t inputs = how.transposed ? weights.columns : weights.rows;
    const std::uint32_t outputs = how.transposed ? weights.rows : weights.columns;
    view.require(*product.window == ir::Window{} && input.heads == output.heads &&
                     weights.heads == output.heads && input.rows == output.rows && input.columns == inputs &&
                     output.columns == outputs,
                 "the matrices of each head must fit");
    view.require(array_weights(product, view.target).type == DataType::Int8 &&
                     bytes_of(view.input().type) == 1 && bytes_of(view.input(1).type) == 1,
                 "only bytes become weights");
    view.require(plan.parts.size() == 1 && plan.parts.front().block.pixels() == 1,
                 "a row of sums must have one pixel");
    check_weights(view, product, 0);
    PlanPart& part = plan.parts.front();
    part.grid = {.height = output.heads, .width = output.rows, .channels = output.columns};
    check_lines(view, part.grid);
    if (how.swapped_input && std::uint64_t{input.heads} * input.rows > most_lines) {
        view.reject(fmt::format("the heads of its first operand have {} rows in all; there may be at most {}",
                                std::uint64_t{input.heads} * input.rows, most_lines));
    }
    plan.kind = "matrix_product";
    plan.tiling = dense_tiling(input.columns, output.columns, view.target.geometry);
    if (plan.tiling.tiles * view.target.geometry.rows * view.target.geometry.columns >
        view.target.weight_memory_bytes) {
        view.reject("its tiles do not fit the weight memory, and tiles beyond it cannot be written");
    }
    part.elements = input.columns;
    part.column_tiles = plan.tiling.columns.size();
}

/// Plans a dense layer: row t of each image's input tensor (two rows of 16-bit elements) is multiplied with
/// tile t. Each of several inputs has its own tiles; the products are added up.
void plan_dense(const MatrixProduct& product, const LayerView& view, LayerPlan& plan) {
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
    plan.tiling = dense_tiling(inputs, plan.parts.front().columns, view.target.geometry);
    plan.parts.front().column_tiles = plan.tiling.columns.size();
}

/// The chunks of a part's rows of sums, for the images of the context.
ProductChunks product_chunks(const LayerLowering& context, const PlanPart& part) {
    const Target& target = context.view.target;
    const auto delay = target.mapping.parts_by_delay ? std::optional(target.activation_delay) : std::nullopt;
    const std::uint32_t most_parts =
        context.memory.pipeline ? AccumulatorParts::most_of_pipeline : AccumulatorParts::most;
    ProductChunks cut = cut_product(columns_of(context.plan, part), part.grid, context.images,
                                    context.accumulators, delay, most_parts);
    for (Chunk& chunk : cut.chunks) chunk.first_image += context.first_image;
    return cut;
}

/// Sends the rows of each image that a column tile has filled.
void send_column(LayerLowering& context, const ColumnTile& column) {
    context.operations.emplace_back(
        WriteOutput{.first_inference = context.first_inference,
                    .first_image = context.first_image,
                    .images = context.images,
                    .part = *context.output_part,
                    .rows = rows_of_channels(context.view.output(), context.view.target, column.first_channel,
                                             column.channels)});
}

/// Appends `Work` (ConvolveLines or MultiplyImages) and activations for all chunks and tiles of a part.
///
/// Column tiles are the outer loop, chunks the inner loop. So parameters change once for each column tile,
/// and the weights of a column with a single tile stay in the array for all chunks. With more tiles in a
/// column, each chunk fetches them again; the other order of loops would not avoid this, because the
/// accumulators hold one chunk only.
template <typename Work>
void lower_matrix_work(LayerLowering& context, const PlanPart& part) {
    const std::uint32_t width = part.grid.width;
    const auto [parts, chunks] = product_chunks(context, part);
    for (std::size_t j = part.first_tile; j < part.first_tile + part.column_tiles; ++j) {
        const ColumnTile& column = context.plan.tiling.columns[j];
        bool tile_in_array = false;
        for (const Chunk& chunk : chunks) {
            const std::uint32_t pixels = chunk.lines * width;
            const std::uint32_t accumulator_row = context.accumulators.take(pixels, parts);
            append_chunk<Work>(context, column, part.block, chunk, accumulator_row, tile_in_array);
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
        if (context.output_part) send_column(context, column);
    }
}

/// Appends the work of a product whose weights the program writes, line by line and tile by tile: the emitter
/// writes a tile when it is to be fetched.
void lower_written(LayerLowering& context, const PlanPart& part) {
    const std::uint32_t width = part.grid.width;
    const std::uint32_t parts = product_chunks(context, part).parts;
    for (std::uint32_t image = 0; image < context.images; ++image) {
        for (std::uint32_t line = 0; line < part.grid.height; ++line) {
            for (std::size_t j = 0; j < context.plan.tiling.columns.size(); ++j) {
                const TileRun& run = context.plan.tiling.columns[j].runs.front();
                const Chunk chunk{.first_image = context.first_image + image, .first_line = line, .lines = 1};
                const std::uint32_t accumulator_row = context.accumulators.take(width, parts);
                for (std::uint32_t t = 0; t < run.tiles; ++t) {
                    ConvolveLines work;
                    work.layer = context.layer;
                    work.chunk = chunk;
                    work.accumulator_row = accumulator_row;
                    work.first_element_tile = t;
                    work.first_weight_tile = context.plan.first_weight_tile + run.first_weight_tile + t;
                    work.tiles = 1;
                    work.accumulate = t > 0;
                    context.operations.emplace_back(work);
                }
                for (std::uint32_t s = 0; s < context.plan.segments[j].size(); ++s) {
                    context.operations.emplace_back(ActivatePixels{.layer = context.layer,
                                                                   .column = static_cast<std::uint32_t>(j),
                                                                   .segment = s,
                                                                   .accumulator_row = accumulator_row,
                                                                   .first_image = chunk.first_image,
                                                                   .first_pixel = line * width,
                                                                   .pixels = width});
                }
            }
        }
    }
}

}  // namespace

Tiling columns_of(const LayerPlan& plan, const PlanPart& part) {
    Tiling tiling = plan.tiling;
    if (plan.parts.size() == 1) return tiling;
    const auto first = plan.tiling.columns.begin() + static_cast<std::ptrdiff_t>(part.first_tile);
    tiling.columns.assign(first, first + static_cast<std::ptrdiff_t>(part.column_tiles));
    tiling.channels = part.columns;
    tiling.tiles = 0;
    for (const ColumnTile& column : tiling.columns) {
        for (const TileRun& run : column.runs) tiling.tiles += run.tiles;
    }
    return tiling;
}

void plan(const MatrixProduct& product, const LayerView& view, LayerPlan& plan) {
    if (writes_weights(product)) return plan_written(product, view, plan);
    if (!product.window) return plan_dense(product, view, plan);
    plan_convolution(product, view, plan);
}

void lower(const MatrixProduct& product, LayerLowering& context) {
    if (writes_weights(product)) return lower_written(context, context.plan.parts.front());
    for (const PlanPart& part : context.plan.parts) {
        if (product.window) {
            lower_matrix_work<ConvolveLines>(context, part);
        } else {
            lower_matrix_work<MultiplyImages>(context, part);
        }
    }
}

}  // namespace systole::tpu_v1
