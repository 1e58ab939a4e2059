// Products of windows that are larger than their results: gradients of kernels. The kernel comes in some cuts
// at a time, and lines of the images by lines of the kernel, while the sums wait in vector memory.
#include <algorithm>
#include <optional>
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

/// Lines of the images that some lines of the kernel meet. Windows keep all lines of the kernel, so
/// lines_above counts from the first line of the first window.
SourceRows lines_of_kernel(const Step& step, std::uint64_t first, std::uint64_t count) {
    const ir::Window& window = *step.window;
    const auto top =
        static_cast<std::int64_t>(first * window.dilation_y) - static_cast<std::int64_t>(window.pad_top);
    const std::int64_t begin = std::max<std::int64_t>(top, 0);
    const std::int64_t end =
        std::min<std::int64_t>(top + static_cast<std::int64_t>(lines_met(step, count)), step.image.height);
    // Where no line is inside the image, any line will do: no tap meets it.
    if (begin >= end) return {.line = 0, .lines = 1, .lines_above = window.pad_top};
    return {.line = static_cast<std::uint64_t>(begin),
            .lines = static_cast<std::uint64_t>(end - begin),
            .lines_above = static_cast<std::uint64_t>(begin) + window.pad_top};
}

}  // namespace

/// The lines that so many lines of the kernel meet, as they lie in memory and as words.
std::uint64_t StepEmitter::rows_of_kernel_lines(const Step& step, const Tile& tile,
                                                std::uint64_t of_kernel) const {
    const Tensor& source = network_.tensors[step.source];
    const std::uint64_t lines = std::min<std::uint64_t>(lines_met(step, of_kernel), step.image.height);
    const std::uint64_t rows = tile.images * lines * step.image.width;
    return (source.memory_rows(rows) + (source.is_packed ? rows : 0)) * panels(step.source);
}

/// As many images as leave room for lines in two places and for some of the kernel: so all comes in once.
std::vector<Tile> StepEmitter::tiles_by_kernel(const Step& step, const ResultRows& of) const {
    const std::uint64_t room = pool_.largest_gap();
    const auto fits = [&](const Tile& tile) {
        constexpr std::uint64_t part = 8;  // of the room, for the kernel
        const std::uint64_t cut_rows = rows_of_cut(step);
        const std::uint64_t sums = rows_of_sums(step, of, tile);
        const std::uint64_t kernel = std::max(2 * cut_rows, room / part);
        return sums <= room / 2 && sums + 2 * rows_of_kernel_lines(step, tile, 1) + kernel <= room;
    };
    const std::uint64_t all = of.together == 0 ? of.images : of.together;
    std::uint64_t images = std::min(all, step.limits.images);
    while (images > 1 && !fits({.images = images, .lines = of.lines})) --images;
    return tiles_of(of, divide_up(all, divide_up(all, images)), of.lines);
}

/// Adds all products to the sums.
void StepEmitter::add_windows(Work& work) {
    const Step& step = work.step;
    const std::uint64_t room = pool_.largest_gap();
    const std::uint64_t kernel_lines = step.window->kernel_height;
    const auto rows_of = [&](std::uint64_t lines) { return rows_of_kernel_lines(step, work.tile, lines); };
    std::uint64_t part = std::min<std::uint64_t>(kernel_lines, step.limits.weights);
    // In two places, lines come in while others are multiplied. All lines need one place alone.
    const bool has_all = part == kernel_lines && rows_of(part) <= room / 2;
    const std::uint64_t places = !has_all && 2 * (rows_of(1) + rows_of_cut(step)) <= room ? 2 : 1;
    while (part > 1 && places * rows_of(part) > room / 2) --part;
    const std::uint64_t taken = take(step, places * rows_of(part));
    const std::uint64_t cuts_of_line = depth_of(step) / kernel_lines / array_rows_;
    std::optional<KernelLines> before;
    std::uint64_t place = 0;
    for (std::uint64_t first = 0; first < kernel_lines; first += part) {
        const std::uint64_t end = std::min(kernel_lines, first + part);
        work.next = taken + place * rows_of(part);
        work.source_rows = lines_of_kernel(step, first, end - first);
        before = load_kernel_lines(work, places > 1 ? before : std::nullopt);
        set_windows(step, work);
        stream_.set(Register::SourcePanelRows, field32(work.source.panel_rows));
        for (std::uint64_t panel = 0; panel < panels(step.result); ++panel)
            multiply_by_parts(work, panel, first * cuts_of_line, end * cuts_of_line);
        place = (place + 1) % places;
    }
    pool_.give_back(taken);
}

/// Brings the lines of all images of a tile into vector memory. Lines that the part before has met, too, are
/// copied from their place.
StepEmitter::KernelLines StepEmitter::load_kernel_lines(Work& work,
                                                        const std::optional<KernelLines>& before) {
    const Step& step = work.step;
    const Tensor& source = network_.tensors[step.source];
    if (is_kept(step.source)) throw std::logic_error("lines of a kernel meet images in vector memory");
    const std::uint64_t images = work.tile.images;
    const std::uint64_t rows = work.source_rows.lines * step.image.width;
    const auto memory_rows = [&](std::uint64_t lines) {
        return source.memory_rows(lines * step.image.width);
    };
    KernelLines made{.first = work.source_rows.line,
                     .lines = work.source_rows.lines,
                     .image_rows = memory_rows(work.source_rows.lines)};
    made.view = {.row = work.next, .panel_rows = images * made.image_rows, .is_packed = source.is_packed};
    work.next += made.view.panel_rows * panels(step.source);
    std::uint64_t copied = 0;
    if (before && made.first >= before->first && made.first < before->end()) {
        copied = std::min(before->end(), made.end()) - made.first;
        for (std::uint64_t image = 0; image < images; ++image) {
            const std::uint64_t skipped =
                image * before->image_rows + memory_rows(made.first - before->first);
            // Rows of memory are copied, packed or not.
            repack({.row = before->view.row + skipped, .panel_rows = before->view.panel_rows},
                   {.row = made.view.row + image * made.image_rows, .panel_rows = made.view.panel_rows},
                   memory_rows(copied), source.columns);
        }
    }
    if (copied < made.lines) {
        const std::uint64_t all_rows = memory_rows(step.image.height);
        const std::uint64_t image = source.is_shared ? work.tile.image % work.of.inner : work.tile.image;
        const std::uint64_t in_memory =
            row_of(step.source) + image * all_rows + memory_rows(made.first + copied);
        if (images > 1) {
            stream_.set(Register::DmaHbmRows, field32(all_rows));
            stream_.set(Register::DmaMemoryRows, field32(made.image_rows));
        }
        for (std::uint64_t panel = 0; panel < panels(step.source); ++panel) {
            stream_.append(isa::DmaIn{.hbm_row = field32(in_memory + panel * source.panel_rows),
                                      .row = field32(made.view.of_panel(panel) + memory_rows(copied)),
                                      .rows = field32(made.image_rows - memory_rows(copied)),
                                      .blocks = field32(images)});
        }
    }
    work.source = made.view;
    if (!source.is_packed) return made;
    work.source = {.row = work.next, .panel_rows = images * rows};
    repack(made.view, work.source, images * rows, source.columns);
    work.next += work.source.panel_rows * panels(step.source);
    return made;
}

}  // namespace systole::tensor_core
