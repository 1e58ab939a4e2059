// Boxes of rows that go elsewhere, and columns that become rows. Rows come in and go out by DMA at equal
// distances: an instruction transfers those along two axes of a tile, so there is one for each index of the
// other axes.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/target/tensor_core/box_tiles.h"
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {
namespace {

using isa::Register;

isa::Chain copying_chain(isa::Spread spread) {
    return {.name = {}, .sources = {{.spread = spread}}, .results = {{}}};
}

}  // namespace

void StepEmitter::transfer(bool into_memory, const std::vector<TransferAxis>& all, std::int64_t hbm_row,
                           std::uint64_t row) {
    std::vector<TransferAxis> axes = joined_axes(all);
    const TransferChoice choice = choose_transfer(axes);
    const auto apart_of = [&](std::size_t axis) { return axis < axes.size() ? axes[axis] : TransferAxis{}; };
    const TransferAxis blocks = apart_of(choice.blocks_axis);
    std::vector<std::uint64_t> extents;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const bool is_taken = axis == choice.rows_axis || axis == choice.blocks_axis;
        extents.push_back(is_taken ? 1 : axes[axis].extent);
    }
    const std::vector<std::uint64_t> step(extents.size(), 1);
    std::vector<std::uint64_t> index(extents.size());
    do {
        std::int64_t hbm = hbm_row;
        std::uint64_t memory = row;
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            hbm += axes[axis].hbm * static_cast<std::int64_t>(index[axis]);
            memory += axes[axis].memory * index[axis];
        }
        if (choice.blocks > 1) {
            stream_.set(Register::DmaHbmRows, field32(static_cast<std::uint64_t>(blocks.hbm)));
            stream_.set(Register::DmaMemoryRows, field32(blocks.memory));
        }
        const auto append = [&](auto dma) {
            dma.hbm_row = field32(static_cast<std::uint64_t>(hbm));
            dma.row = field32(memory);
            dma.rows = field32(choice.rows);
            dma.blocks = field32(choice.blocks);
            stream_.append(dma);
        };
        if (into_memory) {
            append(isa::DmaIn{});
        } else {
            append(isa::DmaOut{});
        }
    } while (advance(index, extents, step));
}

/// The rows of a tile, of which some axes repeat them: `apart` has 0 for these in the source. They go to rows
/// that follow each other.
void StepEmitter::repeat_rows(const std::vector<std::uint64_t>& count,
                              const std::vector<std::uint64_t>& apart, std::uint64_t from, std::uint64_t to) {
    // A chain walks over three axes; axes that lie behind each other are one.
    std::vector<std::uint64_t> extents;
    std::vector<std::uint64_t> strides;
    for (std::size_t axis = 0; axis < count.size(); ++axis) {
        if (count[axis] == 1) continue;
        if (!extents.empty() && strides.back() == apart[axis] * count[axis]) {
            extents.back() *= count[axis];
            strides.back() = apart[axis];
            continue;
        }
        extents.push_back(count[axis]);
        strides.push_back(apart[axis]);
    }
    while (extents.size() < 3) {
        extents.insert(extents.begin(), 1);
        strides.insert(strides.begin(), 0);
    }
    const std::size_t outer = extents.size() - 3;
    const std::uint64_t columns = extents[outer + 2];
    const std::uint64_t lines = extents[outer + 1];
    const std::uint64_t rows = columns * lines * extents[outer];
    stream_.set(Register::WalkColumns, field32(columns));
    stream_.set(Register::WalkLines, field32(lines));
    stream_.set(Register::FromColumnRows, field32(strides[outer + 2]));
    stream_.set(Register::FromLineRows, field32(strides[outer + 1]));
    stream_.set(Register::FromImageRows, field32(strides[outer]));
    stream_.set(Register::ToColumnRows, 1);
    stream_.set(Register::ToLineRows, field32(columns));
    stream_.set(Register::ToImageRows, field32(columns * lines));
    for (const Register reg : {Register::SourcePanelRows, Register::ResultPanelRows}) stream_.set(reg, 0);
    const std::vector<std::uint64_t> looped(extents.begin(),
                                            extents.begin() + static_cast<std::ptrdiff_t>(outer));
    const std::vector<std::uint64_t> step(outer, 1);
    std::vector<std::uint64_t> index(outer);
    const std::uint16_t chain = chains_.index_of(copying_chain(isa::Spread::Rows));
    do {
        std::uint64_t place = from;
        for (std::size_t axis = 0; axis < outer; ++axis) place += index[axis] * strides[axis];
        stream_.append(isa::RunChain{.chain = chain,
                                     .rows = field32(rows),
                                     .columns = field32(lanes_),
                                     .results = {field32(to), 0},
                                     .sources = {field32(place), 0, 0, 0}});
        to += rows;
    } while (advance(index, looped, step));
}

/// Copies one lane of each row into `columns` lanes: transposes, copies the row, and transposes back.
void StepEmitter::repeat_column(const Step& step, std::uint64_t from, std::uint64_t rows, std::uint64_t lane,
                                std::uint64_t columns, std::uint64_t to) {
    const std::uint64_t lines = take(step, lane + 1);
    const std::uint64_t copies = take(step, columns);
    const std::uint16_t chain = chains_.index_of(copying_chain(isa::Spread::Row));
    for (std::uint64_t first = 0; first < rows; first += lanes_) {
        const std::uint64_t count = std::min(lanes_, rows - first);
        stream_.append(isa::Transpose{.result = field32(lines),
                                      .source = field32(from + first),
                                      .rows = static_cast<std::uint16_t>(count),
                                      .columns = static_cast<std::uint16_t>(lane + 1)});
        stream_.set(Register::WalkColumns, 0);
        stream_.set(Register::ResultPanelRows, 0);
        stream_.append(isa::RunChain{.chain = chain,
                                     .rows = field32(columns),
                                     .columns = field32(count),
                                     .results = {field32(copies), 0},
                                     .sources = {field32(lines + lane), 0, 0, 0}});
        stream_.append(isa::Transpose{.result = field32(to + first),
                                      .source = field32(copies),
                                      .rows = static_cast<std::uint16_t>(columns),
                                      .columns = static_cast<std::uint16_t>(count)});
    }
    pool_.give_back(lines);
    pool_.give_back(copies);
}

/// The same columns, as many as a panel has, for `columns` columns of a matrix of `rows` rows.
void StepEmitter::spread_panel(std::uint64_t panel_row, std::uint64_t matrix, std::uint64_t rows,
                               std::uint64_t to, std::uint64_t columns) {
    for (std::uint64_t done = 0; done < columns; done += lanes_) {
        const std::uint64_t count = std::min(lanes_, columns - done);
        if (to % lanes_ == 0) {
            stream_.set(Register::WalkColumns, 0);
            for (const Register reg : {Register::SourcePanelRows, Register::ResultPanelRows})
                stream_.set(reg, 0);
            stream_.append(isa::RunChain{.chain = chains_.index_of(copying_chain(isa::Spread::Rows)),
                                         .rows = field32(rows),
                                         .columns = field32(count),
                                         .results = {field32(matrix + (to + done) / lanes_ * rows), 0},
                                         .sources = {field32(panel_row), 0, 0, 0}});
            continue;
        }
        stream_.set(Register::SourcePanelRows, field32(rows));
        stream_.set(Register::ResultPanelRows, field32(rows));
        stream_.append(isa::MoveLanes{.result = field32(matrix),
                                      .source = field32(panel_row),
                                      .rows = field32(rows),
                                      .columns = field32(count),
                                      .first = 0,
                                      .to = field32(to + done)});
    }
}

void StepEmitter::move_boxes(const Step& step) {
    // Rows that are too long are put together part by part.
    const std::uint64_t most = std::max<std::uint64_t>(1, pool_.largest_gap() / 9);
    for (const RowBox& box : step.movement.boxes) {
        for (std::uint64_t panel = 0; panel < panels(step.result); panel += most) {
            const std::uint64_t some = std::min(most, panels(step.result) - panel);
            if (some == panels(step.result)) {
                move_box(step, box, panel, some);
            } else {
                move_box(step, cut_columns(box, panel * lanes_, some * lanes_), panel, some);
            }
        }
    }
}

/// Into panels of the result from one on.
void StepEmitter::move_box(const Step& step, const RowBox& box, std::uint64_t first_panel,
                           std::uint64_t box_panels) {
    const Tensor& result = network_.tensors[step.result];
    BoxWork work{.step = step,
                 .box = box,
                 .axes = axes_of(box, result.is_shared ? 1 : images_, result.rows),
                 .first_panel = first_panel,
                 .panels = box_panels};
    const std::vector<ColumnGroup> groups = column_groups(box, lanes_);
    // Rows of vector memory beside the result's, for each row of it and for all of them.
    std::uint64_t beside = 0;
    std::uint64_t fixed = 0;
    for (const ColumnGroup& group : groups) {
        const BoxColumns& part = box.columns[group.first];
        if (part.source == Origin::none) {
            beside = std::max<std::uint64_t>(beside, 1);
            continue;
        }
        beside = std::max(beside, part.repeats ? 3 : 2 * group.panels());
        if (part.repeats) fixed = std::max(fixed, part.from % lanes_ + 1 + std::min(lanes_, part.count));
    }
    const std::uint64_t each = box_panels + beside;
    const std::uint64_t room = pool_.largest_gap();
    std::uint64_t most = room / 3 > fixed ? (room / 3 - fixed) / each : 0;
    if (most == 0) most = room > fixed ? (room - fixed) / each : 0;
    if (most == 0) fail_for_room(step, fixed + each);
    std::vector<std::uint64_t> extents;
    for (const BoxAxis& axis : work.axes) extents.push_back(axis.extent);
    for (BoxTile& tile : box_tiles(extents, std::min(most, step.limits.lines))) {
        work.tile = std::move(tile);
        work.count = work.tile.rows();
        work.whole = take(step, work.count * box_panels);
        for (const ColumnGroup& group : groups) put_in_columns(work, group);
        store_box(work);
        pool_.give_back(work.whole);
    }
}

/// Some columns of the rows of a tile.
void StepEmitter::put_in_columns(const BoxWork& work, const ColumnGroup& group) {
    const Step& step = work.step;
    const BoxColumns& part = work.box.columns[group.first];
    if (part.source == Origin::none)
        return fill_columns(step, work.whole, work.count, part.to, part.count, field32(part.from));
    const bool direct = group.end == group.first + 1 && is_direct(part, lanes_);
    const std::uint64_t place =
        direct ? work.whole + part.to / lanes_ * work.count : take(step, group.panels() * work.count);
    load_box(work, part, group, place);
    if (direct) return;
    if (part.repeats) {
        const std::uint64_t spread = take(step, work.count);
        repeat_column(step, place, work.count, part.from % lanes_, std::min(lanes_, part.count), spread);
        spread_panel(spread, work.whole, work.count, part.to, part.count);
        pool_.give_back(spread);
    } else {
        stream_.set(Register::SourcePanelRows, field32(work.count));
        stream_.set(Register::ResultPanelRows, field32(work.count));
        for (std::size_t i = group.first; i < group.end; ++i) {
            const BoxColumns& moved = work.box.columns[i];
            stream_.append(isa::MoveLanes{.result = field32(work.whole),
                                          .source = field32(place),
                                          .rows = field32(work.count),
                                          .columns = field32(moved.count),
                                          .first = field32(moved.from - group.first_panel * lanes_),
                                          .to = field32(moved.to)});
        }
    }
    pool_.give_back(place);
}

/// The source's rows of a tile, one for each of the result. Those that are repeated come in once.
void StepEmitter::load_box(const BoxWork& work, const BoxColumns& part, const ColumnGroup& group,
                           std::uint64_t to) {
    const TensorId id = work.step.sources[part.source];
    const Tensor& source = network_.tensors[id];
    std::vector<TransferAxis> axes;
    std::vector<std::uint64_t> apart(work.axes.size());
    auto row = static_cast<std::int64_t>(row_of(id) + part.row);
    std::uint64_t rows = 1;
    for (std::size_t i = work.axes.size(); i-- > 0;) {
        const bool is_image = work.axes[i].place == work.box.extents.size();
        const std::int64_t rows_apart = is_image
                                            ? static_cast<std::int64_t>(source.is_shared ? 0 : source.rows)
                                            : part.apart[work.axes[i].place];
        row += rows_apart * static_cast<std::int64_t>(work.tile.first[i]);
        if (rows_apart == 0) continue;
        axes.push_back({.extent = work.tile.count[i], .hbm = rows_apart, .memory = rows});
        apart[i] = rows;
        rows *= work.tile.count[i];
    }
    const bool repeats = rows < work.count;
    const std::uint64_t once = repeats ? take(work.step, group.panels() * rows) : to;
    for (std::uint64_t panel = 0; panel < group.panels(); ++panel) {
        const std::uint64_t hbm = (group.first_panel + panel) * source.panel_rows;
        transfer(true, axes, row + static_cast<std::int64_t>(hbm), once + panel * rows);
        if (repeats) repeat_rows(work.tile.count, apart, once + panel * rows, to + panel * work.count);
    }
    if (repeats) pool_.give_back(once);
}

/// In vector memory, rows of the tile follow each other.
void StepEmitter::store_box(const BoxWork& work) {
    const Tensor& result = network_.tensors[work.step.result];
    std::vector<TransferAxis> axes;
    std::uint64_t first_row = row_of(work.step.result) + work.box.row;
    std::uint64_t rows = work.count;
    for (std::size_t i = 0; i < work.axes.size(); ++i) {
        rows /= work.tile.count[i];
        axes.push_back({.extent = work.tile.count[i],
                        .hbm = static_cast<std::int64_t>(work.axes[i].apart),
                        .memory = rows});
        first_row += work.tile.first[i] * work.axes[i].apart;
    }
    for (std::uint64_t panel = 0; panel < work.panels; ++panel) {
        const std::uint64_t hbm = first_row + (work.first_panel + panel) * result.panel_rows;
        transfer(false, axes, static_cast<std::int64_t>(hbm), work.whole + panel * work.count);
    }
}

/// By blocks of as many rows and columns as there are lanes.
void StepEmitter::transpose(const Step& step) {
    const Transposition& moved = *step.movement.transposition;
    const TensorId id = step.sources.front();
    const Tensor& source = network_.tensors[id];
    const Tensor& result = network_.tensors[step.result];
    std::vector<Transposition::Axis> axes{{.extent = result.is_shared ? 1 : images_,
                                           .from = source.is_shared ? 0 : source.rows,
                                           .to = result.rows}};
    for (const Transposition::Axis& axis : moved.outer) axes.push_back(axis);
    std::erase_if(axes, [](const Transposition::Axis& axis) { return axis.extent == 1; });
    std::ranges::stable_sort(axes, std::ranges::greater{}, &Transposition::Axis::to);
    std::vector<std::uint64_t> extents;
    extents.reserve(axes.size());
    for (const Transposition::Axis& axis : axes) extents.push_back(axis.extent);
    // As many rows and columns as there is room for, in whole blocks.
    std::uint64_t rows = std::min(moved.rows, lanes_);
    std::uint64_t columns = std::min(moved.columns, lanes_);
    // Packed rows are there beside the words that they become, or that become them.
    const auto with_packed = [](const Tensor& tensor, std::uint64_t of_rows) {
        return of_rows + (tensor.is_packed ? tensor.memory_rows(of_rows) : 0);
    };
    const auto needed = [&](std::uint64_t of_rows, std::uint64_t of_columns) {
        return with_packed(source, of_rows) * divide_up(of_columns, lanes_) +
               with_packed(result, of_columns) * divide_up(of_rows, lanes_);
    };
    std::uint64_t room = pool_.largest_gap() / 3;
    if (needed(rows, columns) > room) room = pool_.largest_gap();
    if (needed(rows, columns) > room) fail_for_room(step, needed(rows, columns));
    for (bool grows = true; grows;) {
        grows = false;
        const std::uint64_t more_rows = std::min(moved.rows, rows + lanes_);
        if (more_rows > rows && more_rows <= step.limits.lines && needed(more_rows, columns) <= room) {
            rows = more_rows;
            grows = true;
        }
        const std::uint64_t more_columns = std::min(moved.columns, columns + lanes_);
        if (more_columns > columns && more_columns <= step.limits.lines &&
            needed(rows, more_columns) <= room) {
            columns = more_columns;
            grows = true;
        }
    }
    const std::uint64_t times = std::clamp<std::uint64_t>(
        std::min(room / needed(rows, columns), step.limits.lines / rows), 1, TileLimits::none);
    for (const BoxTile& tile : box_tiles(extents, times)) {
        for (std::uint64_t row = 0; row < moved.rows; row += rows) {
            for (std::uint64_t column = 0; column < moved.columns; column += columns) {
                transpose_tile(step, axes, tile.first, tile.count,
                               {.row = row,
                                .rows = std::min(rows, moved.rows - row),
                                .column = column,
                                .columns = std::min(columns, moved.columns - column)});
            }
        }
    }
}

void StepEmitter::transpose_tile(const Step& step, const std::vector<Transposition::Axis>& axes,
                                 const std::vector<std::uint64_t>& first,
                                 const std::vector<std::uint64_t>& count, const TransposedPart& part) {
    const Transposition& moved = *step.movement.transposition;
    const TensorId id = step.sources.front();
    const Tensor& source = network_.tensors[id];
    const Tensor& result = network_.tensors[step.result];
    std::uint64_t times = 1;
    for (const std::uint64_t each : count) times *= each;
    std::vector<TransferAxis> in;
    std::vector<TransferAxis> out;
    // Rows of memory, of which each may have two of a tensor.
    const std::uint64_t rows = source.memory_rows(part.rows);
    const std::uint64_t columns = result.memory_rows(part.columns);
    std::uint64_t from = row_of(id) + source.memory_rows(part.row * moved.rows_apart);
    std::uint64_t to = row_of(step.result) + result.memory_rows(part.column * moved.columns_apart);
    std::uint64_t inner = times;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        inner /= count[i];
        const std::uint64_t source_apart = source.memory_rows(axes[i].from);
        const std::uint64_t result_apart = result.memory_rows(axes[i].to);
        in.push_back(
            {.extent = count[i], .hbm = static_cast<std::int64_t>(source_apart), .memory = inner * rows});
        out.push_back(
            {.extent = count[i], .hbm = static_cast<std::int64_t>(result_apart), .memory = inner * columns});
        from += first[i] * source_apart;
        to += first[i] * result_apart;
    }
    in.push_back({.extent = rows, .hbm = static_cast<std::int64_t>(moved.rows_apart), .memory = 1});
    out.push_back({.extent = columns, .hbm = static_cast<std::int64_t>(moved.columns_apart), .memory = 1});
    const std::uint64_t in_panel = times * part.rows;
    const std::uint64_t out_panel = times * part.columns;
    const std::uint64_t in_panels = divide_up(part.columns, lanes_);
    const std::uint64_t out_panels = divide_up(part.rows, lanes_);
    const std::uint64_t packed_in = source.is_packed ? in_panels * times * rows : 0;
    const std::uint64_t packed_out = result.is_packed ? out_panels * times * columns : 0;
    const std::uint64_t read =
        take(step, in_panels * in_panel + out_panels * out_panel + packed_in + packed_out);
    const std::uint64_t written = read + in_panels * in_panel;
    const std::uint64_t packed = written + out_panels * out_panel;
    const View in_memory = source.is_packed
                               ? View{.row = packed, .panel_rows = times * rows, .is_packed = true}
                               : View{.row = read, .panel_rows = in_panel};
    for (std::uint64_t panel = 0; panel < in_panels; ++panel) {
        const std::uint64_t hbm = from + (part.column / lanes_ + panel) * source.panel_rows;
        transfer(true, in, static_cast<std::int64_t>(hbm), in_memory.of_panel(panel));
    }
    if (source.is_packed) repack(in_memory, {.row = read, .panel_rows = in_panel}, in_panel, part.columns);
    for (std::uint64_t row = 0; row < out_panels; ++row) {
        for (std::uint64_t column = 0; column < in_panels; ++column) {
            for (std::uint64_t turn = 0; turn < times; ++turn) {
                stream_.append(isa::Transpose{
                    .result = field32(written + row * out_panel + turn * part.columns + column * lanes_),
                    .source = field32(read + column * in_panel + turn * part.rows + row * lanes_),
                    .rows = static_cast<std::uint16_t>(std::min(lanes_, part.rows - row * lanes_)),
                    .columns = static_cast<std::uint16_t>(std::min(lanes_, part.columns - column * lanes_))});
            }
        }
        const std::uint64_t hbm = to + (part.row / lanes_ + row) * result.panel_rows;
        View made{.row = written + row * out_panel};
        if (result.is_packed) {
            const View words = made;
            made = {.row = packed + packed_in + row * times * columns, .panel_rows = 0, .is_packed = true};
            repack(words, made, out_panel, std::min(lanes_, part.rows - row * lanes_));
        }
        transfer(false, out, static_cast<std::int64_t>(hbm), made.row);
    }
    pool_.give_back(read);
}

}  // namespace systole::tensor_core
