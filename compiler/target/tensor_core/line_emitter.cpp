// Windows of images of few channels, whose pixels lie side by side in a row for each line. For each line of
// the kernel, the lines that the outputs of a tile read come in by DMA: a strip. For each column of the
// output, the columns of its windows move from the strips to rows of the product, one for each output. These
// rows fill the lanes; a chain puts the sums into the order of the result.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {
namespace {

using isa::Register;

/// As many rows of a product as hide that weights shift in; more rows only begin later.
constexpr std::uint64_t enough_product_rows = 1024;

/// Outputs of a tile, for one column of the output.
std::uint64_t outputs_of_column(const Tile& tile) {
    return tile.images * tile.lines;
}

/// The taps of a window that are inside the image, in one line of the kernel.
struct Taps {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t pixel = 0;  ///< of the first one
};

Taps taps_of(const Step& step, std::uint64_t column) {
    const ir::Window& window = *step.window;
    const std::int64_t begin =
        static_cast<std::int64_t>(column * window.stride_x) - std::int64_t{window.pad_left};
    Taps taps;
    for (std::uint64_t tap = 0; tap < window.kernel_width; ++tap) {
        const std::int64_t pixel = begin + static_cast<std::int64_t>(tap * window.dilation_x);
        if (pixel < 0 || pixel >= std::int64_t{step.image.width}) continue;
        if (taps.count++ > 0) continue;
        taps.first = tap;
        taps.pixel = static_cast<std::uint64_t>(pixel);
    }
    return taps;
}

bool reads_no_other_rows(const ChainUse& chain) {
    return std::ranges::all_of(chain.operands, [](const Operand& operand) {
        return operand.kind == OperandKind::Before || operand.kind == OperandKind::Row;
    });
}

}  // namespace

std::uint64_t StepEmitter::strip_rows(const Step& step, const Tile& tile) const {
    return step.window->kernel_height * outputs_of_column(tile) * panels(step.source);
}

/// Windows and sums of one column of the output, and results that leave by columns.
std::uint64_t StepEmitter::rows_of_window_column(const Step& step, const Tile& tile) const {
    const std::uint64_t depth = network_.tensors[step.weights].rows;
    const std::uint64_t results = (stores_columns(step) ? 2 : 1) * panels(step.result);
    return outputs_of_column(tile) * (divide_up(depth, lanes_) + results);
}

/// Whether results leave vector memory some columns at a time: if no chain reads other rows.
bool StepEmitter::stores_columns(const Step& step) const {
    if (!step.reads_lines || is_kept(step.result)) return false;
    return std::ranges::all_of(step.chains, reads_no_other_rows);
}

void StepEmitter::multiply_lines(const Work& work, const Shared& shared) {
    const Step& step = work.step;
    const std::uint64_t outputs = outputs_of_column(work.tile);
    const std::uint64_t strips = work.next;
    load_strips(work, strips);
    const std::uint64_t each = rows_of_window_column(step, work.tile);
    // Two parts, so that windows are formed while others are multiplied, and weights if they come in parts.
    const std::uint64_t room = pool_.largest_gap() / (shared.weights ? 2 : 4);
    const std::uint64_t most =
        std::clamp<std::uint64_t>(std::min(room / each, divide_up(enough_product_rows, outputs)), 1,
                                  std::min(work.of.width, step.limits.columns));
    const std::uint64_t windows_panels = divide_up(network_.tensors[step.weights].rows, lanes_);
    const bool by_columns = stores_columns(step);
    const std::size_t placed = can_place(step) ? 1 : 0;  // chains
    for (std::uint64_t first = 0; first < work.of.width; first += most) {
        const WindowColumns columns{.first = first, .count = std::min(most, work.of.width - first)};
        const std::uint64_t rows = columns.count * outputs;
        const std::uint64_t windows = take(step, columns.count * each);
        const std::uint64_t sums = windows + rows * windows_panels;
        form_windows(work, strips, columns, windows);
        Work part = work;
        part.source = {.row = windows, .panel_rows = rows};
        part.result = {.row = sums, .panel_rows = rows};
        part.rows = rows;
        Work results = work;  // the same rows in the order of the result
        results.result = {.row = sums + rows * panels(step.result), .panel_rows = rows};
        results.rows = rows;
        for (std::uint64_t panel = 0; panel < panels(step.result); ++panel) {
            multiply(part, shared, panel);
            const std::uint64_t from = part.result.of_panel(panel);
            if (!by_columns) {
                place_columns(work, shared, panel, columns, from, work.of.width);
                continue;
            }
            place_columns(results, shared, panel, {.count = columns.count}, from, columns.count);
            run_chains(results, shared, panel, placed);
            store_columns(results, panel, columns);
        }
        pool_.give_back(windows);
    }
    if (by_columns) return;
    for (std::uint64_t panel = 0; panel < panels(step.result); ++panel) {
        run_chains(work, shared, panel, placed);
        store(work, step.result, work.result, panel);
    }
}

void StepEmitter::store_columns(const Work& work, std::uint64_t panel, const WindowColumns& columns) {
    const Tensor& tensor = network_.tensors[work.step.result];
    stream_.set(Register::DmaHbmRows, field32(work.of.width));
    stream_.set(Register::DmaMemoryRows, field32(columns.count));
    stream_.append(isa::DmaOut{.hbm_row = field32(row_of(work.step.result) + panel * tensor.panel_rows +
                                                  work.tile.first_row(work.of) + columns.first),
                               .row = field32(work.result.of_panel(panel)),
                               .rows = field32(columns.count),
                               .blocks = field32(outputs_of_column(work.tile))});
}

/// For each line of the kernel a matrix with a row for each line of the output; 0 outside the image.
void StepEmitter::load_strips(const Work& work, std::uint64_t to) {
    const Step& step = work.step;
    const Tile& tile = work.tile;
    const Tensor& source = network_.tensors[step.source];
    const std::uint64_t outputs = outputs_of_column(tile);
    const auto clear = [&](std::uint64_t strip, std::uint64_t first, std::uint64_t lines) {
        if (lines == 0) return;
        stream_.set(Register::WalkColumns, field32(lines));
        stream_.set(Register::WalkLines, field32(tile.images * panels(step.source)));
        stream_.set(Register::ToColumnRows, 1);
        stream_.set(Register::ToLineRows, field32(tile.lines));
        stream_.set(Register::ResultPanelRows, 0);
        stream_.append(isa::RunChain{.chain = chains_.index_of(constant_chain(0)),
                                     .rows = field32(lines * tile.images * panels(step.source)),
                                     .columns = field32(lanes_),
                                     .results = {field32(strip + first), 0}});
    };
    for (std::uint32_t line = 0; line < step.window->kernel_height; ++line) {
        const std::uint64_t strip = to + line * outputs * panels(step.source);
        const TapOutputs inside = outputs_of_tap(step, tile, line, 0);
        if (inside.lines == 0) {
            clear(strip, 0, tile.lines);
            continue;
        }
        const std::uint64_t above = inside.line - tile.line;
        clear(strip, 0, above);
        clear(strip, above + inside.lines, tile.lines - above - inside.lines);
        // Blocks are images, or lines if these lie apart.
        const std::uint64_t stride = step.window->stride_y;
        const bool by_image = stride == 1 || inside.lines == 1;
        const std::uint64_t turns = by_image ? 1 : tile.images;
        const std::uint64_t blocks = by_image ? tile.images : inside.lines;
        // Images of a set follow each other.
        const std::uint64_t inner = step.inner_images;
        const std::uint64_t apart = inner == 1 ? source.image_rows : step.image.height;
        if (blocks > 1) {
            stream_.set(Register::DmaHbmRows, field32(by_image ? apart : stride));
            stream_.set(Register::DmaMemoryRows, field32(by_image ? tile.lines : 1));
        }
        for (std::uint64_t panel = 0; panel < panels(step.source); ++panel) {
            for (std::uint64_t turn = 0; turn < turns; ++turn) {
                const std::uint64_t image = tile.image + turn;
                const std::uint64_t first = image / inner * source.image_rows + image % inner * apart;
                stream_.append(isa::DmaIn{.hbm_row = field32(row_of(step.source) + panel * source.panel_rows +
                                                             first + inside.source_line),
                                          .row = field32(strip + panel * outputs + turn * tile.lines + above),
                                          .rows = field32(by_image ? inside.lines : 1),
                                          .blocks = field32(blocks)});
            }
        }
    }
}

void StepEmitter::form_windows(const Work& work, std::uint64_t strips, const WindowColumns& columns,
                               std::uint64_t to) {
    const Step& step = work.step;
    const ir::Window& window = *step.window;
    const std::uint64_t outputs = outputs_of_column(work.tile);
    const std::uint64_t panel_rows = columns.count * outputs;
    const std::uint64_t channels = step.image.channels;
    // Outside the image, windows have zeros.
    const auto is_cut = [&](std::uint64_t column) {
        return taps_of(step, columns.first + column).count < window.kernel_width;
    };
    for (std::uint64_t column = 0; column < columns.count;) {
        std::uint64_t end = column;
        while (end < columns.count && is_cut(end)) ++end;
        if (end > column) {
            fill(to + column * outputs, (end - column) * outputs, network_.tensors[step.weights].rows, 0,
                 panel_rows);
        }
        column = end + 1;
    }
    stream_.set(Register::SourcePanelRows, field32(outputs));
    stream_.set(Register::ResultPanelRows, field32(panel_rows));
    for (std::uint64_t column = 0; column < columns.count; ++column) {
        const Taps taps = taps_of(step, columns.first + column);
        if (taps.count == 0) continue;
        // Taps that are neighbours move together.
        const std::uint64_t together = window.dilation_x == 1 ? taps.count : 1;
        for (std::uint64_t line = 0; line < window.kernel_height; ++line) {
            for (std::uint64_t tap = 0; tap < taps.count; tap += together) {
                const std::uint64_t element = line * window.kernel_width + taps.first + tap;
                stream_.append(
                    isa::MoveLanes{.result = field32(to + column * outputs),
                                   .source = field32(strips + line * outputs * panels(step.source)),
                                   .rows = field32(outputs),
                                   .columns = field32(together * channels),
                                   .first = field32((taps.pixel + tap * window.dilation_x) * channels),
                                   .to = field32(element * channels)});
            }
        }
    }
}

/// Whether the first chain can take the sums column by column: it reads no other rows.
bool StepEmitter::can_place(const Step& step) const {
    if (step.chains.empty() || !reads_no_other_rows(step.chains[0])) return false;
    const auto is_before = [](const Operand& operand) { return operand.kind == OperandKind::Before; };
    return std::ranges::count_if(step.chains[0].operands, is_before) == 1;
}

/// The sums of some columns go to their places in lines of `width` columns, through the first chain if that
/// is possible.
void StepEmitter::place_columns(const Work& work, const Shared& shared, std::uint64_t panel,
                                const WindowColumns& columns, std::uint64_t from, std::uint64_t width) {
    const Step& step = work.step;
    const std::uint64_t outputs = outputs_of_column(work.tile);
    isa::Chain made{.name = {}, .sources = {{}}};
    isa::RunChain run{.rows = field32(columns.count * outputs),
                      .columns = field32(columns_of_panel(step.result, panel)),
                      .results = {field32(work.result.of_panel(panel) + columns.first), 0},
                      .sources = {field32(from), 0, 0, 0}};
    if (can_place(step)) {
        // The rows that lie apart are the first source.
        const ChainUse& chain = step.chains[0];
        std::vector<std::uint8_t> places;
        for (const Operand& operand : chain.operands) {
            if (operand.kind == OperandKind::Before) {
                places.push_back(0);
                continue;
            }
            const std::size_t place = made.sources.size();
            places.push_back(static_cast<std::uint8_t>(place));
            run.sources.at(place) = field32(shared.rows.at(operand.tensor).of_panel(panel));
            made.sources.push_back({.spread = isa::Spread::Row});
        }
        made.steps = chain.steps;
        for (isa::ChainStep& each : made.steps) {
            for (std::uint8_t& operand : each.operands) {
                if (operand < places.size()) operand = places[operand];
            }
        }
    }
    made.results = {{.value = static_cast<std::uint8_t>(made.values() - 1)}};
    run.chain = chains_.index_of(std::move(made));
    stream_.set(Register::WalkColumns, field32(columns.count));
    stream_.set(Register::WalkLines, field32(outputs));
    stream_.set(Register::FromColumnRows, field32(outputs));
    stream_.set(Register::FromLineRows, 1);
    stream_.set(Register::ToColumnRows, 1);
    stream_.set(Register::ToLineRows, field32(width));
    for (const Register reg :
         {Register::SourcePanelRows, Register::OtherPanelRows, Register::ResultPanelRows})
        stream_.set(reg, 0);
    stream_.append(run);
}

}  // namespace systole::tensor_core
