// Products: their weights, sources that are transposed on the way, and the array's instructions.
#include <algorithm>

#include "base/arithmetic.h"
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {

using isa::Register;

// Weights.

/// Whether all tiles of a product have the same weights.
bool StepEmitter::shares_weights(const Step& step) const {
    if (step.matrices.count() > 1) return false;
    return images_ == 1 || network_.tensors[step.weights].is_shared;
}

std::uint64_t StepEmitter::depth_of(const Step& step) const {
    return step.depth > 0 ? step.depth : network_.tensors[step.weights].rows;
}

/// Whether all weights of a product are in vector memory at once.
bool StepEmitter::keeps_weights(const Step& step) const {
    return !step.by_depth && step.limits.keeps_weights && kept_weight_rows(step) <= pool_.rows() / 3;
}

std::uint64_t StepEmitter::kept_weight_rows(const Step& step) const {
    const Tensor& weights = network_.tensors[step.weights];
    if (weights.is_weights) return weight_tiles(weights, step, machine_).rows();
    if (step.weights_transposed)
        return weights.memory_rows(network_.tensors[step.result].columns) * divide_up(depth_of(step), lanes_);
    return weights.memory_rows(depth_of(step)) * panels(step.weights);
}

/// The image whose weights a tile needs; with several matrices, that matrix of all of them.
std::uint64_t StepEmitter::weights_image(const Work& work) {
    return work.step.matrices.count() > 1 ? work.tile.image : work.tile.graph_image(work.of);
}

std::uint64_t StepEmitter::weights_in_hbm(const Step& step, std::uint64_t image, std::uint64_t panel,
                                          std::uint64_t cut) const {
    const Tensor& weights = network_.tensors[step.weights];
    if (weights.is_weights) {
        const WeightTiles tiles = weight_tiles(weights, step, machine_);
        return row_of(step.weights) + (panel * tiles.cuts + cut) * tiles.tile_rows;
    }
    const std::uint64_t matrices = step.matrices.count();
    const std::uint64_t columns = network_.tensors[step.result].columns;
    std::uint64_t first =
        row_of(step.weights) + (weights.is_shared ? 0 : image / matrices * weights.memory_rows(weights.rows));
    if (matrices > 1) {
        first +=
            step.matrices.weights[image % matrices] * (step.weights_transposed ? columns : depth_of(step));
    }
    if (step.weights_transposed)
        return first + cut * array_rows_ / lanes_ * weights.panel_rows + weights.memory_rows(panel * lanes_);
    return first + panel * weights.panel_rows + weights.memory_rows(cut * array_rows_);
}

/// All weights, panel by panel.
void StepEmitter::load_weights(const Step& step, std::uint64_t image, std::uint64_t to) {
    if (step.weights_transposed) {
        const Tensor& weights = network_.tensors[step.weights];
        const std::uint64_t rows = weights.memory_rows(network_.tensors[step.result].columns);
        const std::uint64_t first = weights_in_hbm(step, image, 0, 0);
        for (std::uint64_t panel = 0; panel * lanes_ < depth_of(step); ++panel)
            copy_in(first + panel * weights.panel_rows, to + panel * rows, rows);
        return;
    }
    const std::uint64_t rows = kept_weight_rows(step) / panels(step.weights);
    for (std::uint64_t panel = 0; panel < panels(step.weights); ++panel)
        copy_in(weights_in_hbm(step, image, panel, 0), to + panel * rows, rows);
}

// Sources.

/// Whether the rows of a transposed source lie packed in vector memory.
bool StepEmitter::packs_transposed(const Step& step) const {
    return network_.tensors[step.source].is_bfloat16 && step.passes.size() == 1 && lanes_ % 2 == 0;
}

std::uint64_t StepEmitter::transposed_rows(const Step& step, std::uint64_t rows) const {
    const std::uint64_t own = packs_transposed(step) ? divide_up(rows, std::uint64_t{2}) : rows;
    return own * divide_up(depth_of(step), lanes_);
}

/// Blocks of as many columns as there are lanes become rows one after the other.
std::uint64_t StepEmitter::rows_for_transposing(const Step& step) const {
    const Tensor& source = network_.tensors[step.source];
    std::uint64_t rows = is_kept(step.source) ? 0 : 2 * source.memory_rows(source.rows);
    if (source.is_packed) rows += source.rows;
    if (packs_transposed(step)) rows += round_up(depth_of(step), lanes_);
    return rows;
}

View StepEmitter::load_transposed(Work& work) {
    const Step& step = work.step;
    const Tensor& source = network_.tensors[step.source];
    const bool packs = packs_transposed(step);
    const std::uint64_t depth = depth_of(step);
    const std::uint64_t depth_panels = divide_up(depth, lanes_);
    const View made{
        .row = work.next, .panel_rows = transposed_rows(step, work.rows) / depth_panels, .is_packed = packs};
    work.next += transposed_rows(step, work.rows);
    const std::uint64_t read = work.next;
    const std::uint64_t read_rows = is_kept(step.source) ? 0 : source.memory_rows(source.rows);
    const std::uint64_t words = read + 2 * read_rows;
    const std::uint64_t transposed = words + (source.is_packed ? source.rows : 0);
    work.next += rows_for_transposing(step);
    const bool is_shared = source.is_shared && !network_.tensors[step.result].is_shared;
    const std::uint64_t image = is_shared ? 0 : work.tile.image;
    const std::uint64_t first = row_of(step.source) + image * source.memory_rows(source.rows);
    for (std::uint64_t block = 0; block * lanes_ < work.rows; ++block) {
        const std::uint64_t columns = std::min(lanes_, work.rows - block * lanes_);
        const std::uint64_t panel = work.tile.line / lanes_ + block;
        View rows{.row = first + panel * source.panel_rows, .panel_rows = 0, .is_packed = source.is_packed};
        if (!is_kept(step.source)) {
            const std::uint64_t place = read + block % 2 * read_rows;
            copy_in(rows.row, place, read_rows);
            rows.row = place;
        }
        if (rows.is_packed) {
            repack(rows, {.row = words}, depth, columns);
            rows = {.row = words};
        }
        // Packed rows are made of words that have a place of their own.
        const View to = packs ? View{.row = transposed, .panel_rows = lanes_}
                              : View{.row = made.row + block * lanes_, .panel_rows = made.panel_rows};
        for (std::uint64_t part = 0; part < depth_panels; ++part) {
            stream_.append(
                isa::Transpose{.result = field32(to.of_panel(part)),
                               .source = field32(rows.row + part * lanes_),
                               .rows = static_cast<std::uint16_t>(std::min(lanes_, depth - part * lanes_)),
                               .columns = static_cast<std::uint16_t>(columns)});
        }
        if (!packs) continue;
        repack(to, {.row = made.row + block * lanes_ / 2, .panel_rows = made.panel_rows, .is_packed = true},
               columns, depth);
    }
    return made;
}

// Instructions.

void StepEmitter::multiply(const Work& work, const Shared& shared, std::uint64_t panel) {
    const Step& step = work.step;
    const Tensor& weights = network_.tensors[step.weights];
    const std::uint64_t cuts = divide_up(depth_of(step), array_rows_);
    if (step.window && !step.reads_lines) set_windows(step, work);
    stream_.set(Register::SourcePanelRows, field32(work.source.panel_rows));
    if (const auto kept = shared.weights ? shared.weights : work.weights) {
        if (step.weights_transposed) {
            const std::uint64_t rows = weights.memory_rows(network_.tensors[step.result].columns);
            return multiply_cuts(work, panel, 0, cuts,
                                 {.row = *kept + weights.memory_rows(panel * lanes_),
                                  .cut_rows = array_rows_ / lanes_ * rows,
                                  .panel_rows = rows});
        }
        const std::uint64_t panel_rows = kept_weight_rows(step) / panels(step.weights);
        return multiply_cuts(work, panel, 0, cuts,
                             {.row = *kept + panel * panel_rows, .cut_rows = rows_of_cut(step)});
    }
    multiply_by_parts(work, panel, 0, cuts);
}

/// Some cuts at a time come in; there is room for some more while these are worked on.
void StepEmitter::multiply_by_parts(const Work& work, std::uint64_t panel, std::uint64_t first,
                                    std::uint64_t end) {
    const Step& step = work.step;
    const std::uint64_t most =
        std::clamp<std::uint64_t>(pool_.largest_gap() / 3 / rows_of_cut(step), 1, step.limits.weights);
    for (std::uint64_t cut = first; cut < end; cut += most) {
        const std::uint64_t last = std::min(end, cut + most);
        const LoadedWeights part = load_cuts(work, panel, cut, last);
        multiply_cuts(work, panel, cut, last, part);
        pool_.give_back(part.row);
    }
}

/// What the weights for a cut take.
std::uint64_t StepEmitter::rows_of_cut(const Step& step) const {
    const Tensor& weights = network_.tensors[step.weights];
    return weights.is_weights ? weight_tiles(weights, step, machine_).tile_rows
                              : weights.memory_rows(array_rows_);
}

/// Some cuts of a panel come in.
StepEmitter::LoadedWeights StepEmitter::load_cuts(const Work& work, std::uint64_t panel, std::uint64_t first,
                                                  std::uint64_t end) {
    const Step& step = work.step;
    const Tensor& weights = network_.tensors[step.weights];
    const std::uint64_t hbm_row = weights_in_hbm(step, weights_image(work), panel, first);
    const std::uint64_t depth = std::min(end * array_rows_, depth_of(step)) - first * array_rows_;
    LoadedWeights part{.cut_rows = weights.memory_rows(array_rows_)};
    std::uint64_t rows = weights.memory_rows(depth);
    if (weights.is_weights) {
        part.cut_rows = weight_tiles(weights, step, machine_).tile_rows;
        rows = (end - first) * part.cut_rows;
    }
    if (!step.weights_transposed) {
        part.row = take(step, rows);
        copy_in(hbm_row, part.row, rows);
        return part;
    }
    // The rows that are columns of the result, in each panel of the depth.
    const std::uint64_t columns = weights.memory_rows(columns_of_panel(step.result, panel));
    const std::uint64_t depth_panels = divide_up(depth, lanes_);
    part = {.row = take(step, columns * depth_panels),
            .cut_rows = array_rows_ / lanes_ * columns,
            .panel_rows = columns};
    if (depth_panels > 1) {
        stream_.set(Register::DmaHbmRows, field32(weights.panel_rows));
        stream_.set(Register::DmaMemoryRows, field32(columns));
    }
    stream_.append(isa::DmaIn{.hbm_row = field32(hbm_row),
                              .row = field32(part.row),
                              .rows = field32(columns),
                              .blocks = field32(depth_panels)});
    return part;
}

void StepEmitter::multiply_cuts(const Work& work, std::uint64_t panel, std::uint64_t first, std::uint64_t end,
                                const LoadedWeights& weights) {
    const Step& step = work.step;
    const Tensor& tensor = network_.tensors[step.weights];
    const auto columns = static_cast<std::uint16_t>(columns_of_panel(step.result, panel));
    const bool packed =
        tensor.is_packed || (tensor.is_weights && weight_tiles(tensor, step, machine_).packed);
    if (step.weights_transposed) stream_.set(Register::WeightsPanelRows, field32(weights.panel_rows));
    for (std::uint64_t cut = first; cut < end; ++cut) {
        const auto depth =
            static_cast<std::uint16_t>(std::min(array_rows_, depth_of(step) - cut * array_rows_));
        stream_.set(Register::ProductFirst, field32(cut * array_rows_));
        for (std::size_t pass = 0; pass < step.passes.size(); ++pass) {
            stream_.append(isa::LoadWeights{.source = field32(weights.row + (cut - first) * weights.cut_rows),
                                            .depth = depth,
                                            .columns = columns,
                                            .part = step.passes[pass].weight_part,
                                            .transposed = step.weights_transposed,
                                            .packed = packed});
            stream_.append(isa::Product{.result = field32(work.result.of_panel(panel)),
                                        .source = field32(work.source.row),
                                        .rows = field32(work.rows),
                                        .depth = depth,
                                        .columns = columns,
                                        .part = step.passes[pass].row_part,
                                        .accumulate = cut > 0 || pass > 0,
                                        .windows = step.window.has_value() && !step.reads_lines,
                                        .packed = work.source.is_packed});
        }
    }
}

void StepEmitter::set_windows(const Step& step, const Work& work) {
    const ir::Window& window = *step.window;
    const std::uint64_t pixels = work.source_rows.lines * step.image.width;
    stream_.set(Register::WindowInputHeight, field32(work.source_rows.lines));
    stream_.set(Register::WindowInputWidth, step.image.width);
    stream_.set(Register::WindowChannels, step.image.channels);
    stream_.set(Register::WindowImageRows, field32(pixels));
    stream_.set(Register::WindowKernelHeight, window.kernel_height);
    stream_.set(Register::WindowKernelWidth, window.kernel_width);
    stream_.set(Register::WindowStrideY, window.stride_y);
    stream_.set(Register::WindowStrideX, window.stride_x);
    stream_.set(Register::WindowPadTop, field32(work.source_rows.lines_above));
    stream_.set(Register::WindowPadLeft, window.pad_left);
    stream_.set(Register::WindowOutputHeight, field32(work.tile.lines));
    stream_.set(Register::WindowOutputWidth, field32(work.of.width));
    stream_.set(Register::WindowDilationY, window.dilation_y);
    stream_.set(Register::WindowDilationX, window.dilation_x);
}

}  // namespace systole::tensor_core
