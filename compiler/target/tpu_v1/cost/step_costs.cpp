#include "compiler/target/tpu_v1/cost/step_costs.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "base/arithmetic.h"

namespace systole::tpu_v1 {

namespace {

const MatrixWork* matrix_work(const Operation& operation) {
    if (const auto* work = std::get_if<ConvolveLines>(&operation)) return work;
    return std::get_if<MultiplyImages>(&operation);
}

MatrixWork* matrix_work(Operation& operation) {
    return const_cast<MatrixWork*>(matrix_work(std::as_const(operation)));
}

/// Whether the operation is work of the activation unit alone.
bool is_vector_work(const Operation& operation) {
    return std::holds_alternative<PoolLines>(operation) || std::holds_alternative<CopyLines>(operation) ||
           std::holds_alternative<ElementwiseRows>(operation);
}

}  // namespace

StepCosts::StepCosts(const AnalysedNetwork& analysed, const Schedule& schedule)
    : network_(analysed.network()),
      schedule_(schedule),
      costs_(analysed, schedule.target, schedule.target.costs->machine) {
    for (std::uint32_t l = 0; l < network_.layers.size(); ++l) {
        const LayerPlan& plan = schedule.layers[l];
        products_.emplace_back();
        if (plan.tiling.tiles == 0) continue;
        Product product;
        product.tiles.resize(plan.tiling.tiles);
        for (MappedProduct& mapped : costs_.products(l, plan, 1)) {
            for (const ColumnTile& column : mapped.tiling.columns) {
                const std::vector<TileCost> costs = tile_costs(mapped, column, costs_.machine());
                auto cost = costs.begin();
                for (const TileRun& run : column.runs) {
                    for (std::uint32_t t = 0; t < run.tiles; ++t) {
                        product.tiles[run.first_weight_tile + t] = *cost++;
                    }
                }
            }
            std::ranges::move(mapped.activated, std::back_inserter(product.activated));
        }
        products_.back() = std::move(product);
    }
}

void StepCosts::append_streams(const MatrixWork& work, std::vector<StreamOfStep>& streams) const {
    const std::uint32_t first = work.first_weight_tile - schedule_.layers[work.layer].first_weight_tile;
    for (std::uint32_t t = 0; t < work.tiles; ++t) {
        const TileCost& tile = products_[work.layer].value().tiles[first + t];
        streams.push_back({.shape = tile.line, .fetch = tile.fetch});
        streams.back().shape.lines = work.chunk.lines;
        // Chunks of a column with one tile follow each other, if they can.
        streams.back().is_kept = work.keep_weights;
    }
}

std::vector<StreamOfStep> StepCosts::streams_of(std::span<const Operation> operations) const {
    std::vector<StreamOfStep> streams;
    for (const Operation& operation : operations) {
        if (const MatrixWork* work = matrix_work(operation)) append_streams(*work, streams);
    }
    return streams;
}

bool StepCosts::waits_for_weights(const MatrixWork& work) const {
    std::vector<StreamOfStep> streams;
    append_streams(work, streams);
    double array = 0, fetch = 0;
    for (const StreamOfStep& stream : streams) {
        array += static_cast<double>(stream.shape.span());
        fetch += stream.fetch;
    }
    return fetch > array;
}

std::vector<Operation> StepCosts::split(std::vector<Operation> operations) const {
    std::vector<Operation> result;
    for (Operation& operation : operations) {
        const MatrixWork* const work = matrix_work(operation);
        if (work == nullptr || work->tiles == 1 || !waits_for_weights(*work)) {
            result.push_back(operation);
            continue;
        }
        for (std::uint32_t t = 0; t < work->tiles; ++t) {
            Operation& part = result.emplace_back(operation);
            MatrixWork& tile = *matrix_work(part);
            tile.first_element_tile += t;
            tile.first_weight_tile += t;
            tile.tiles = 1;
            tile.accumulate = tile.accumulate || t > 0;
        }
    }
    return result;
}

std::vector<Step> StepCosts::steps_of(std::uint32_t layer, std::span<const Operation> operations,
                                      std::uint32_t first_image) const {
    if (writes_weights(layer)) return whole_images(layer, operations, first_image);
    std::vector<Step> steps;
    bool streams_before = false;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const Operation& operation = operations[i];
        const MatrixWork* const streams = matrix_work(operation);
        const bool continues = streams != nullptr && streams->accumulate && streams_before;
        if (steps.empty() || is_vector_work(operation) || (streams != nullptr && !streams->accumulate) ||
            (continues && waits_for_weights(*streams))) {
            if (continues) steps.back().ends_sums = false;
            steps.emplace_back();
            steps.back().first_operation = i;
            steps.back().is_product = streams != nullptr;
            steps.back().is_vector_work = is_vector_work(operation);
            steps.back().begins_sums = !continues;
        }
        streams_before = streams != nullptr;
        Step& step = steps.back();
        ++step.operations;
        if (const auto* work = std::get_if<ActivatePixels>(&operation)) {
            add(*work, first_image, step);
        } else if (is_vector_work(operation)) {
            add_vector_work(layer, operation, first_image, step);
        }
    }
    for (std::size_t s = steps.size(); s-- > 0;) {
        Step& step = steps[s];
        for (const StreamOfStep& stream :
             streams_of(operations.subspan(step.first_operation, step.operations))) {
            if (step.first_fetch == 0) step.first_fetch = stream.fetch;
            step.array_cycles += static_cast<double>(stream.shape.span());
            if (!stream.is_kept) step.fetch_cycles += stream.fetch;
        }
        if (step.ends_sums) continue;
        // What the sums need is known from the step that activates them.
        step.accumulator_rows = steps[s + 1].accumulator_rows;
        step.written = steps[s + 1].written;
    }
    return steps;
}

bool StepCosts::writes_weights(std::uint32_t layer) const {
    const auto* const product = std::get_if<MatrixProduct>(&network_.layers[layer].work);
    return product != nullptr && tpu_v1::writes_weights(*product);
}

/// All heads of an image read all lines of their operands, and the program writes their tiles to the same
/// places: they stay together.
std::vector<Step> StepCosts::whole_images(std::uint32_t layer, std::span<const Operation> operations,
                                          std::uint32_t first_image) const {
    const std::uint64_t height = network_.tensors[network_.layers[layer].output].shape.height;
    std::vector<Step> steps;
    std::optional<std::uint32_t> image;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const MatrixWork* const streams = matrix_work(operations[i]);
        if (streams != nullptr && image != streams->chunk.first_image) {
            image = streams->chunk.first_image;
            steps.emplace_back();
            steps.back().first_operation = i;
            steps.back().is_product = true;
        }
        Step& step = steps.back();
        ++step.operations;
        if (const auto* work = std::get_if<ActivatePixels>(&operations[i])) {
            add(*work, first_image, step);
            step.written = {.first = std::uint64_t{work->first_image - first_image} * height,
                            .count = height};
            step.column.reset();
        }
    }
    for (Step& step : steps) {
        for (const StreamOfStep& stream :
             streams_of(operations.subspan(step.first_operation, step.operations))) {
            if (step.first_fetch == 0) step.first_fetch = stream.fetch;
            step.array_cycles += static_cast<double>(stream.shape.span());
            // The tile is written before it is fetched.
            step.fetch_cycles += stream.fetch + costs_.tile_write_cycles();
        }
    }
    return steps;
}

LineRange StepCosts::lines_of(std::uint32_t layer, const ir::FeatureMap& grid, const PixelBlock& block,
                              std::uint32_t image, std::uint64_t first_line, std::uint64_t lines) const {
    const std::uint64_t height = network_.tensors[network_.layers[layer].output].shape.height;
    // The last blocks of an image may reach out of it.
    const auto pixel_line = [&](std::uint64_t line) {
        return line / grid.height * height + std::min(line % grid.height * block.height, height);
    };
    const std::uint64_t begin = std::uint64_t{image} * grid.height + first_line;
    const std::uint64_t first = pixel_line(begin);
    return {.first = first, .count = std::max(pixel_line(begin + lines), first + 1) - first};
}

void StepCosts::add(const ActivatePixels& work, std::uint32_t first_image, Step& step) const {
    const LayerPlan& plan = schedule_.layers[work.layer];
    const PlanPart& part = part_of_column(plan, work.column);
    step.accumulator_rows = work.pixels;
    if (is_single_tile(plan.tiling.columns[work.column])) step.column = work.column;
    step.activation_cycles += static_cast<double>(
        activation_cycles(products_[work.layer].value().activated[work.column][work.segment], work.pixels,
                          false, costs_.machine()));
    const std::uint32_t width = part.grid.width;
    step.written = lines_of(work.layer, part.grid, part.block, work.first_image - first_image,
                            work.first_pixel / width, work.pixels / width);
}

void StepCosts::add_vector_work(std::uint32_t layer, const Operation& operation, std::uint32_t first_image,
                                Step& step) const {
    const Tensor& output = network_.tensors[network_.layers[layer].output];
    std::size_t input = 0;
    std::uint32_t length = 0;
    if (const auto* rows = std::get_if<ElementwiseRows>(&operation)) {
        length = rows->rows.count;
        const std::uint64_t image_rows = tpu_v1::image_rows(output, schedule_.target.geometry.rows);
        const std::uint64_t first = rows->rows.first - image_rows * first_image;
        const auto line = [&](std::uint64_t row) { return row * output.shape.height / image_rows; };
        const std::uint64_t end = divide_up((first + rows->rows.count) * output.shape.height, image_rows);
        step.written = {.first = line(first), .count = end - line(first)};
    } else {
        const auto* copied = std::get_if<CopyLines>(&operation);
        const Chunk& chunk = copied != nullptr ? copied->chunk : std::get<PoolLines>(operation).chunk;
        if (copied != nullptr) input = copied->input;
        length = chunk.lines;
        step.written =
            lines_of(layer, output.shape, {}, chunk.first_image - first_image, chunk.first_line, chunk.lines);
    }
    step.activation_cycles += static_cast<double>(costs_.vector_cycles(layer, input, length));
}

std::uint64_t StepCosts::lines_read(std::uint32_t layer, std::size_t input, const Step& step) const {
    if (step.written.count == 0) return 0;
    const Layer& read_by = network_.layers[layer];
    const std::uint64_t height = network_.tensors[read_by.inputs[input]].shape.height;
    const std::uint64_t output_height = network_.tensors[read_by.output].shape.height;
    const std::uint64_t last = step.written.first + step.written.count - 1;
    const std::uint64_t image = last / output_height;
    std::uint64_t line = height - 1;
    const auto through = [&](const ir::Window& window) {
        const std::uint64_t bottom = last % output_height * window.stride_y +
                                     ir::covered_extent(window.kernel_height, window.dilation_y);
        line = bottom <= window.pad_top ? 0 : std::min(bottom - window.pad_top, height) - 1;
    };
    if (const auto* product = std::get_if<MatrixProduct>(&read_by.work)) {
        if (product->window && !tpu_v1::writes_weights(*product)) through(*product->window);
    } else if (const auto* pooling = std::get_if<Pooling>(&read_by.work)) {
        through(pooling->window);
    } else if (height == output_height) {
        line = last % output_height;
    }
    return image * height + line + 1;
}

}  // namespace systole::tpu_v1
