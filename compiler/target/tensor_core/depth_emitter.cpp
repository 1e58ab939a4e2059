// Products of two matrices with many rows, of which the first is transposed: gradients of weights. Some rows
// of both come in at a time, while the sums of some rows of the result, or of all, wait in vector memory.
#include <algorithm>
#include <numeric>

#include "base/arithmetic.h"
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {

using isa::Register;

/// The least part of the depth: as many elements as whole cuts and whole panels have.
std::uint64_t StepEmitter::depth_unit() const {
    return std::lcm(lanes_, array_rows_);
}

/// What so many units of the depth take: the source's rows as they lie in memory, as words, and transposed,
/// and those of the weights.
std::uint64_t StepEmitter::rows_of_depth(const Step& step, std::uint64_t rows, std::uint64_t units) const {
    const Tensor& source = network_.tensors[step.source];
    const std::uint64_t depth = std::min(units * depth_unit(), depth_of(step));
    const std::uint64_t source_panels = divide_up(rows, lanes_);
    std::uint64_t all = rows * divide_up(depth, lanes_);
    if (!is_kept(step.source)) all += source.memory_rows(depth) * source_panels;
    if (source.is_packed) all += depth * source_panels;
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
    const auto fits = [&](std::uint64_t lines) {
        const std::uint64_t sums = rows_of_sums(step, of, {.images = 1, .lines = lines});
        return sums <= room / 2 && sums + 2 * rows_of_depth(step, lines * of.width, 1) <= room;
    };
    std::uint64_t lines = std::min(of.lines, step.limits.lines);
    if (lines < of.lines) lines = round_up(lines, lanes_);
    while (lines > lanes_ && !fits(lines)) lines = round_up(divide_up(lines, std::uint64_t{2}), lanes_);
    return tiles_of(of, 1, lines);
}

void StepEmitter::multiply_by_depth(const Step& step) {
    const ResultRows of = result_rows(network_, step, images_);
    Shared shared;
    load_shared(step, shared);
    for (const Tile& tile : step.window ? tiles_by_kernel(step, of) : tiles_by_depth(step, of)) {
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
        if (step.window) {
            add_windows(work);
        } else {
            add_transposed_rows(work);
        }
        for (std::uint64_t panel = 0; panel < panels(step.result); ++panel) {
            run_chains(work, shared, panel);
            store(work, step.result, place, panel);
        }
        pool_.give_back(taken);
    }
    for (const std::uint64_t first : shared.taken) pool_.give_back(first);
}

/// Adds all products to the sums.
void StepEmitter::add_transposed_rows(Work& work) {
    const Step& step = work.step;
    const std::uint64_t room = pool_.largest_gap() / 2;
    const std::uint64_t units = divide_up(depth_of(step), depth_unit());
    std::uint64_t part = std::min(units, step.limits.weights);
    while (part > 1 && rows_of_depth(step, work.rows, part) > room) --part;
    for (std::uint64_t first = 0; first < units; first += part) {
        const std::uint64_t count = std::min(part, units - first);
        const std::uint64_t at = take(step, rows_of_depth(step, work.rows, count));
        work.next = at;
        add_depth(work, first, count);
        pool_.give_back(at);
    }
}

/// Adds the products of some units of the depth to the sums.
void StepEmitter::add_depth(Work& work, std::uint64_t first, std::uint64_t units) {
    const Step& step = work.step;
    const Tensor& weights = network_.tensors[step.weights];
    const std::uint64_t begin = first * depth_unit();
    const std::uint64_t depth = std::min(units * depth_unit(), depth_of(step) - begin);
    // The weights come in beside the source.
    const std::uint64_t weight_rows = weights.memory_rows(depth);
    const View loaded{.row = work.next, .panel_rows = weight_rows};
    work.next += weight_rows * panels(step.weights);
    for (std::uint64_t panel = 0; panel < panels(step.weights); ++panel) {
        copy_in(weights_in_hbm(step, weights_image(work), panel, begin / array_rows_), loaded.of_panel(panel),
                weight_rows);
    }
    const View source = load_transposed_rows(work, begin, depth);
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
                                            .accumulate = first > 0 || cut > 0 || pass > 0});
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

}  // namespace systole::tensor_core
