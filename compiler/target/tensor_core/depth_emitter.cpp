// Products of which some of the depth comes in at a time, while the sums of some rows of the result, or of
// all, wait in vector memory: gradients of weights. Of two matrices with many rows, of which the first is
// transposed, a part is some rows of both; of windows that are larger than their results, some lines of the
// kernel.
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "base/arithmetic.h"
#include "compiler/ir/window.h"
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {

using isa::Register;

namespace {

/// From the first line of the first windows to the last one of the last, for so many lines of the kernel.
std::uint64_t lines_met(const Step& step, std::uint64_t of_kernel) {
    const ir::Window& window = *step.window;
    return std::uint64_t{step.output.height - 1} * window.stride_y + (of_kernel - 1) * window.dilation_y + 1;
}

/// Lines of the images that some lines of the kernel meet.
SourceRows lines_of_kernel(const Step& step, std::uint64_t first, std::uint64_t count) {
    const ir::Window& window = *step.window;
    const auto top =
        static_cast<std::int64_t>(first * window.dilation_y) - static_cast<std::int64_t>(window.pad_top);
    const auto reach = static_cast<std::int64_t>(lines_met(step, count));
    const std::int64_t begin = std::max<std::int64_t>(top, 0);
    const std::int64_t end = std::min<std::int64_t>(top + reach, step.image.height);
    // Where no line is inside the image, it lies below all taps.
    if (begin >= end) return {.line = 0, .lines = 1, .lines_above = static_cast<std::uint64_t>(reach)};
    return {.line = static_cast<std::uint64_t>(begin),
            .lines = static_cast<std::uint64_t>(end - begin),
            .lines_above = static_cast<std::uint64_t>(begin - top)};
}

}  // namespace

/// The least part of the depth: as many elements as whole cuts and whole panels have, or a line of the
/// kernel.
std::uint64_t StepEmitter::depth_unit(const Step& step) const {
    if (step.window) return std::uint64_t{step.window->kernel_width} * step.image.channels;
    return std::lcm(lanes_, array_rows_);
}

/// What so many units of the depth take: the source's rows as they lie in memory, as words, and transposed,
/// and those of the weights.
std::uint64_t StepEmitter::rows_of_depth(const Step& step, const Tile& tile, std::uint64_t rows,
                                         std::uint64_t units) const {
    const Tensor& source = network_.tensors[step.source];
    const std::uint64_t depth = std::min(units * depth_unit(step), depth_of(step));
    std::uint64_t source_rows = depth;
    std::uint64_t source_panels = divide_up(rows, lanes_);
    std::uint64_t all = 0;
    if (step.window) {
        const std::uint64_t lines = std::min<std::uint64_t>(lines_met(step, units), step.image.height);
        source_rows = tile.images * lines * step.image.width;
        source_panels = panels(step.source);
    } else {
        all += rows * divide_up(depth, lanes_);
    }
    if (step.window || !is_kept(step.source)) all += source.memory_rows(source_rows) * source_panels;
    if (source.is_packed) all += source_rows * source_panels;
    return all + network_.tensors[step.weights].memory_rows(depth) * panels(step.weights);
}

/// The sums of a tile, and what its chains read and write beside them.
std::uint64_t StepEmitter::rows_of_sums(const Step& step, const ResultRows& of, const Tile& tile) const {
    const Tensor& result = network_.tensors[step.result];
    std::uint64_t all = operand_rows(step, of, tile);
    if (packs_at_the_end(step)) all += tile.rows(of) * panels(step.result);
    if (!is_kept(step.result)) all += result.memory_rows(tile.rows(of)) * panels(step.result);
    return all;
}

/// Half of the room is for parts of the depth: one comes in while another one is worked on.
std::vector<Tile> StepEmitter::tiles_by_depth(const Step& step, const ResultRows& of) const {
    const std::uint64_t room = pool_.largest_gap();
    const auto fits = [&](const Tile& tile) {
        const std::uint64_t sums = rows_of_sums(step, of, tile);
        return sums <= room / 2 && sums + 2 * rows_of_depth(step, tile, tile.rows(of), 1) <= room;
    };
    if (step.window) {
        const std::uint64_t all = of.together == 0 ? of.images : of.together;
        std::uint64_t images = std::min(all, step.limits.images);
        while (images > 1 && !fits({.images = images, .lines = of.lines})) --images;
        return tiles_of(of, divide_up(all, divide_up(all, images)), of.lines);
    }
    std::uint64_t lines = std::min(of.lines, step.limits.lines);
    if (lines < of.lines) lines = round_up(lines, lanes_);
    while (lines > lanes_ && !fits({.images = 1, .lines = lines}))
        lines = round_up(divide_up(lines, std::uint64_t{2}), lanes_);
    return tiles_of(of, 1, lines);
}

void StepEmitter::multiply_by_depth(const Step& step) {
    const ResultRows of = result_rows(network_, step, images_);
    Shared shared;
    load_shared(step, shared);
    const std::uint64_t units = divide_up(depth_of(step), depth_unit(step));
    for (const Tile& tile : tiles_by_depth(step, of)) {
        const std::uint64_t rows = tile.rows(of);
        const std::uint64_t taken = take(step, rows_of_sums(step, of, tile));
        Work work{.step = step, .of = of, .tile = tile, .next = taken, .rows = rows};
        load_operands(work);
        const View place = place_result(work, step.result);
        work.result = place;
        if (packs_at_the_end(step)) {
            work.packed = place;
            work.result = {.row = work.next, .panel_rows = rows};
        }
        work.operands.emplace(step.result, work.result);
        const std::uint64_t room = pool_.largest_gap() / 2;
        std::uint64_t part = std::min(units, step.limits.weights);
        while (part > 1 && rows_of_depth(step, tile, rows, part) > room) --part;
        for (std::uint64_t first = 0; first < units; first += part) {
            const std::uint64_t count = std::min(part, units - first);
            const std::uint64_t at = take(step, rows_of_depth(step, tile, rows, count));
            work.next = at;
            add_depth(work, first, count);
            pool_.give_back(at);
        }
        for (std::uint64_t panel = 0; panel < panels(step.result); ++panel) {
            run_chains(work, shared, panel);
            store(work, step.result, place, panel);
        }
        pool_.give_back(taken);
    }
    for (const std::uint64_t first : shared.taken) pool_.give_back(first);
}

/// Adds the products of some units of the depth to the sums.
void StepEmitter::add_depth(Work& work, std::uint64_t first, std::uint64_t units) {
    const Step& step = work.step;
    const Tensor& weights = network_.tensors[step.weights];
    const std::uint64_t begin = first * depth_unit(step);
    const std::uint64_t depth = std::min(units * depth_unit(step), depth_of(step) - begin);
    // The weights come in beside the source.
    const std::uint64_t weight_rows = weights.memory_rows(depth);
    const View loaded{.row = work.next, .panel_rows = weight_rows};
    work.next += weight_rows * panels(step.weights);
    for (std::uint64_t panel = 0; panel < panels(step.weights); ++panel) {
        copy_in(weights_in_hbm(step, weights_image(work), panel, begin / array_rows_), loaded.of_panel(panel),
                weight_rows);
    }
    const View source =
        step.window ? load_lines_of_kernel(work, first, units) : load_transposed_rows(work, begin, depth);
    stream_.set(Register::SourcePanelRows, field32(source.panel_rows));
    for (std::uint64_t panel = 0; panel < panels(step.result); ++panel) {
        const auto columns = static_cast<std::uint16_t>(columns_of_panel(step.result, panel));
        for (std::uint64_t cut = 0; cut * array_rows_ < depth; ++cut) {
            const auto cut_depth =
                static_cast<std::uint16_t>(std::min(array_rows_, depth - cut * array_rows_));
            stream_.set(Register::ProductFirst, field32(cut * array_rows_));
            for (std::size_t pass = 0; pass < step.passes.size(); ++pass) {
                stream_.append(isa::LoadWeights{
                    .source = field32(loaded.of_panel(panel) + weights.memory_rows(cut * array_rows_)),
                    .depth = cut_depth,
                    .columns = columns,
                    .part = step.passes[pass].weight_part,
                    .packed = weights.is_packed});
                stream_.append(isa::Product{.result = field32(work.result.of_panel(panel)),
                                            .source = field32(source.row),
                                            .rows = field32(work.rows),
                                            .depth = cut_depth,
                                            .columns = columns,
                                            .part = step.passes[pass].row_part,
                                            .accumulate = first > 0 || cut > 0 || pass > 0,
                                            .windows = step.window.has_value()});
            }
        }
    }
}

/// Some rows of the source as columns: a panel has as many of them as there are lanes.
View StepEmitter::load_transposed_rows(Work& work, std::uint64_t first, std::uint64_t depth) {
    const Step& step = work.step;
    const Tensor& source = network_.tensors[step.source];
    const std::uint64_t source_panels = divide_up(work.rows, lanes_);
    const std::uint64_t source_rows = source.memory_rows(depth);
    const std::uint64_t image = source.is_shared ? 0 : work.tile.image;
    const std::uint64_t in_memory = row_of(step.source) + source.memory_rows(image * source.rows + first) +
                                    work.tile.line / lanes_ * source.panel_rows;
    View rows{.row = in_memory, .panel_rows = source.panel_rows, .is_packed = source.is_packed};
    if (!is_kept(step.source)) {
        rows = {.row = work.next, .panel_rows = source_rows, .is_packed = source.is_packed};
        for (std::uint64_t panel = 0; panel < source_panels; ++panel)
            copy_in(in_memory + panel * source.panel_rows, rows.of_panel(panel), source_rows);
        work.next += source_rows * source_panels;
    }
    if (rows.is_packed) {
        const View words{.row = work.next, .panel_rows = depth};
        repack(rows, words, depth, work.rows);
        rows = words;
        work.next += depth * source_panels;
    }
    const View transposed{.row = work.next, .panel_rows = work.rows};
    for (std::uint64_t panel = 0; panel < source_panels; ++panel) {
        const std::uint64_t columns = std::min(lanes_, work.rows - panel * lanes_);
        for (std::uint64_t block = 0; block * lanes_ < depth; ++block) {
            stream_.append(
                isa::Transpose{.result = field32(transposed.of_panel(block) + panel * lanes_),
                               .source = field32(rows.of_panel(panel) + block * lanes_),
                               .rows = static_cast<std::uint16_t>(std::min(lanes_, depth - block * lanes_)),
                               .columns = static_cast<std::uint16_t>(columns)});
        }
    }
    return transposed;
}

/// The lines of a tile's images that some lines of the kernel meet; registers for windows of these lines.
View StepEmitter::load_lines_of_kernel(Work& work, std::uint64_t first, std::uint64_t count) {
    const Step& step = work.step;
    const Tensor& source = network_.tensors[step.source];
    if (is_kept(step.source)) throw std::logic_error("lines of a kernel meet images in vector memory");
    work.source_rows = lines_of_kernel(step, first, count);
    const std::uint64_t width = step.image.width;
    const std::uint64_t image_rows = source.memory_rows(step.image.height * width);
    const std::uint64_t image = source.is_shared ? work.tile.image % work.of.inner : work.tile.image;
    const std::uint64_t in_memory =
        row_of(step.source) + image * image_rows + source.memory_rows(work.source_rows.line * width);
    const std::uint64_t rows = work.source_rows.lines * width;
    const std::uint64_t memory_rows = source.memory_rows(rows);
    View lines{.row = work.next, .panel_rows = work.tile.images * memory_rows, .is_packed = source.is_packed};
    if (work.tile.images > 1) {
        stream_.set(Register::DmaHbmRows, field32(image_rows));
        stream_.set(Register::DmaMemoryRows, field32(memory_rows));
    }
    for (std::uint64_t panel = 0; panel < panels(step.source); ++panel) {
        stream_.append(isa::DmaIn{.hbm_row = field32(in_memory + panel * source.panel_rows),
                                  .row = field32(lines.of_panel(panel)),
                                  .rows = field32(memory_rows),
                                  .blocks = field32(work.tile.images)});
    }
    work.next += lines.panel_rows * panels(step.source);
    if (lines.is_packed) {
        const View words{.row = work.next, .panel_rows = work.tile.images * rows};
        repack(lines, words, work.tile.images * rows, source.columns);
        lines = words;
        work.next += words.panel_rows * panels(step.source);
    }
    Step part = step;
    part.window->kernel_height = static_cast<std::uint32_t>(count);
    set_windows(part, work);
    return lines;
}

}  // namespace systole::tensor_core
