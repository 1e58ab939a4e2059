// Boxes of rows that go elsewhere, and columns that become rows: rows come in and go out by DMA at equal
// distances, so the number of instructions depends on the number of tiles and not on that of rows.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {
namespace {

using isa::Register;

/// An axis of a box, or the images.
struct BoxAxis {
    std::size_t place = 0;  ///< of the box's axes; behind them: the images
    std::uint64_t extent = 1;
    std::uint64_t apart = 1;  ///< rows of the result
    bool is_backward = false;
};

/// Some indices of each axis.
struct BoxTile {
    std::vector<std::uint64_t> first;
    std::vector<std::uint64_t> count;

    std::uint64_t rows() const {
        std::uint64_t rows = 1;
        for (const std::uint64_t each : count) rows *= each;
        return rows;
    }
};

/// The next index with the last axis first; false behind the last one.
bool advance(std::vector<std::uint64_t>& index, const std::vector<std::uint64_t>& extents,
             const std::vector<std::uint64_t>& step) {
    for (std::size_t axis = index.size(); axis-- > 0;) {
        index[axis] += step[axis];
        if (index[axis] < extents[axis]) return true;
        index[axis] = 0;
    }
    return false;
}

/// Tiles of about equally many rows each, at most `most`: the last axes are whole as far as there is room.
std::vector<BoxTile> box_tiles(const std::vector<std::uint64_t>& extents, std::uint64_t most) {
    std::vector<std::uint64_t> step(extents.size(), 1);
    std::uint64_t rows = 1;
    for (std::size_t axis = extents.size(); axis-- > 0;) {
        const std::uint64_t parts = divide_up(extents[axis], most / rows);
        step[axis] = divide_up(extents[axis], parts);
        rows *= step[axis];
        if (parts > 1) break;
    }
    std::vector<BoxTile> tiles;
    std::vector<std::uint64_t> first(extents.size());
    do {
        BoxTile& tile = tiles.emplace_back(BoxTile{.first = first, .count = {}});
        for (std::size_t axis = 0; axis < extents.size(); ++axis)
            tile.count.push_back(std::min(step[axis], extents[axis] - first[axis]));
    } while (advance(first, extents, step));
    return tiles;
}

/// Without axes of one index, and with neighbours joined that lie behind each other in both memories.
std::vector<TransferAxis> joined_axes(std::vector<TransferAxis> axes) {
    std::erase_if(axes, [](const TransferAxis& axis) { return axis.extent == 1; });
    for (bool joins = true; joins;) {
        joins = false;
        for (std::size_t outer = 0; outer < axes.size() && !joins; ++outer) {
            for (std::size_t inner = 0; inner < axes.size() && !joins; ++inner) {
                const auto extent = static_cast<std::int64_t>(axes[inner].extent);
                joins = inner != outer && axes[outer].hbm == axes[inner].hbm * extent &&
                        axes[outer].memory == axes[inner].memory * axes[inner].extent;
                if (!joins) continue;
                axes[inner].extent *= axes[outer].extent;
                axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(outer));
            }
        }
    }
    return axes;
}

/// The axes that one transfer takes: that of the rows of a block, and that of the blocks. Behind the last
/// axis: none.
struct TransferChoice {
    std::size_t rows_axis = 0;
    std::size_t blocks_axis = 0;
    std::uint64_t rows = 1;
    std::uint64_t blocks = 1;
};

/// The choice that takes the most rows.
TransferChoice choose_transfer(const std::vector<TransferAxis>& axes) {
    const std::size_t none = axes.size();
    TransferChoice best{.rows_axis = none, .blocks_axis = none};
    for (std::size_t rows_axis = 0; rows_axis <= none; ++rows_axis) {
        if (rows_axis < none && (axes[rows_axis].hbm != 1 || axes[rows_axis].memory != 1)) continue;
        const std::uint64_t rows = rows_axis < none ? axes[rows_axis].extent : 1;
        for (std::size_t blocks_axis = 0; blocks_axis <= none; ++blocks_axis) {
            std::uint64_t blocks = 1;
            if (blocks_axis < none) {
                const TransferAxis& axis = axes[blocks_axis];
                const bool fits = axis.hbm >= static_cast<std::int64_t>(rows) && axis.memory >= rows;
                if (blocks_axis == rows_axis || !fits) continue;
                blocks = axis.extent;
            }
            if (rows * blocks <= best.rows * best.blocks) continue;
            best = {.rows_axis = rows_axis, .blocks_axis = blocks_axis, .rows = rows, .blocks = blocks};
        }
    }
    return best;
}

/// Columns of a box that are put in together.
struct ColumnGroup {
    std::size_t first = 0;
    std::size_t end = 0;
    std::uint64_t first_panel = 0;  ///< of the source
    std::uint64_t end_panel = 0;
};

/// Whether rows of the source need no move between lanes.
bool is_direct(const BoxColumns& part, std::uint64_t lanes) {
    return !part.repeats && part.to % lanes == 0 && part.from % lanes == 0;
}

/// Neighbours that come from the same rows are put in together, unless they need no move between lanes.
std::vector<ColumnGroup> column_groups(const RowBox& box, std::uint64_t lanes) {
    std::vector<ColumnGroup> groups;
    for (std::size_t i = 0; i < box.columns.size(); ++i) {
        const BoxColumns& part = box.columns[i];
        if (part.source == Origin::none) {
            groups.push_back({.first = i, .end = i + 1});
            continue;
        }
        const std::uint64_t begin = part.from / lanes;
        const std::uint64_t end = (part.from + (part.repeats ? 1 : part.count) - 1) / lanes + 1;
        const auto can_follow = [&](const BoxColumns& before) {
            return before.source == part.source && before.row == part.row && before.apart == part.apart &&
                   !before.repeats && !part.repeats && !is_direct(before, lanes) && !is_direct(part, lanes);
        };
        if (i > 0 && can_follow(box.columns[i - 1])) {
            ColumnGroup& group = groups.back();
            group.end = i + 1;
            group.first_panel = std::min(group.first_panel, begin);
            group.end_panel = std::max(group.end_panel, end);
        } else {
            groups.push_back({.first = i, .end = i + 1, .first_panel = begin, .end_panel = end});
        }
    }
    return groups;
}

/// The columns from one on, as columns of a box of their own.
RowBox cut_columns(const RowBox& box, std::uint64_t first, std::uint64_t count) {
    RowBox cut{.row = box.row, .extents = box.extents, .apart = box.apart, .columns = {}};
    for (BoxColumns part : box.columns) {
        const std::uint64_t begin = std::max(part.to, first);
        const std::uint64_t end = std::min(part.to + part.count, first + count);
        if (begin >= end) continue;
        if (part.source != Origin::none && !part.repeats) part.from += begin - part.to;
        part.to = begin - first;
        part.count = end - begin;
        cut.columns.push_back(std::move(part));
    }
    return cut;
}

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

/// All of `columns` columns of each row get the number in one lane of it: that column becomes a row, which is
/// repeated, and its copies become columns.
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
    const std::uint64_t images = result.is_shared ? 1 : images_;
    // In the order of the rows of the result; but axes that go backwards in a source come first, so that a
    // tile has few of their indices: each of these takes a transfer of its own.
    std::vector<BoxAxis> axes{{.place = box.extents.size(), .extent = images, .apart = result.rows}};
    for (std::size_t i = 0; i < box.extents.size(); ++i) {
        const bool is_backward = std::ranges::any_of(box.columns, [&](const BoxColumns& part) {
            return part.source != Origin::none && part.apart[i] < 0;
        });
        axes.push_back(
            {.place = i, .extent = box.extents[i], .apart = box.apart[i], .is_backward = is_backward});
    }
    std::erase_if(axes, [](const BoxAxis& axis) { return axis.extent == 1; });
    std::ranges::stable_sort(axes, std::ranges::greater{},
                             [](const BoxAxis& axis) { return std::pair(axis.is_backward, axis.apart); });
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
        beside = std::max(beside, part.repeats ? 3 : 2 * (group.end_panel - group.first_panel));
        if (part.repeats) fixed = std::max(fixed, part.from % lanes_ + 1 + std::min(lanes_, part.count));
    }
    const std::uint64_t each = box_panels + beside;
    const std::uint64_t room = pool_.largest_gap();
    std::uint64_t most = room / 3 > fixed ? (room / 3 - fixed) / each : 0;
    if (most == 0) most = room > fixed ? (room - fixed) / each : 0;
    if (most == 0) fail_for_room(step, fixed + each);
    std::vector<std::uint64_t> extents;
    for (const BoxAxis& axis : axes) extents.push_back(axis.extent);
    for (const BoxTile& tile : box_tiles(extents, std::min(most, step.limits.lines))) {
        const std::uint64_t count = tile.rows();
        const std::uint64_t whole = take(step, count * box_panels);
        for (const ColumnGroup& group : groups) {
            const BoxColumns& part = box.columns[group.first];
            if (part.source == Origin::none) {
                fill_columns(step, whole, count, part.to, part.count, field32(part.from));
                continue;
            }
            // Of the axes, those that repeat rows come in once.
            const TensorId id = step.sources[part.source];
            const Tensor& source = network_.tensors[id];
            std::vector<TransferAxis> in;
            std::vector<std::uint64_t> apart(axes.size());
            auto row = static_cast<std::int64_t>(row_of(id) + part.row);
            std::uint64_t own = 1;
            for (std::size_t i = axes.size(); i-- > 0;) {
                const bool is_image = axes[i].place == box.extents.size();
                const std::int64_t rows_apart =
                    is_image ? static_cast<std::int64_t>(source.is_shared ? 0 : source.rows)
                             : part.apart[axes[i].place];
                row += rows_apart * static_cast<std::int64_t>(tile.first[i]);
                if (rows_apart == 0) continue;
                in.push_back({.extent = tile.count[i], .hbm = rows_apart, .memory = own});
                apart[i] = own;
                own *= tile.count[i];
            }
            const bool direct = group.end == group.first + 1 && is_direct(part, lanes_);
            const std::uint64_t part_panels = group.end_panel - group.first_panel;
            const std::uint64_t place =
                direct ? whole + part.to / lanes_ * count : take(step, part_panels * count);
            const bool repeats = own < count;
            const std::uint64_t once = repeats ? take(step, part_panels * own) : place;
            for (std::uint64_t panel = 0; panel < part_panels; ++panel) {
                const std::uint64_t hbm = (group.first_panel + panel) * source.panel_rows;
                transfer(true, in, row + static_cast<std::int64_t>(hbm), once + panel * own);
                if (repeats) repeat_rows(tile.count, apart, once + panel * own, place + panel * count);
            }
            if (repeats) pool_.give_back(once);
            if (direct) continue;
            if (part.repeats) {
                const std::uint64_t spread = take(step, count);
                repeat_column(step, place, count, part.from % lanes_, std::min(lanes_, part.count), spread);
                spread_panel(spread, whole, count, part.to, part.count);
                pool_.give_back(spread);
            } else {
                stream_.set(Register::SourcePanelRows, field32(count));
                stream_.set(Register::ResultPanelRows, field32(count));
                for (std::size_t i = group.first; i < group.end; ++i) {
                    const BoxColumns& moved = box.columns[i];
                    stream_.append(isa::MoveLanes{.result = field32(whole),
                                                  .source = field32(place),
                                                  .rows = field32(count),
                                                  .columns = field32(moved.count),
                                                  .first = field32(moved.from - group.first_panel * lanes_),
                                                  .to = field32(moved.to)});
                }
            }
            pool_.give_back(place);
        }
        // In vector memory, rows of the tile follow each other.
        std::vector<TransferAxis> out;
        std::uint64_t first_row = row_of(step.result) + box.row;
        std::uint64_t rows = count;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            rows /= tile.count[i];
            out.push_back(
                {.extent = tile.count[i], .hbm = static_cast<std::int64_t>(axes[i].apart), .memory = rows});
            first_row += tile.first[i] * axes[i].apart;
        }
        for (std::uint64_t panel = 0; panel < box_panels; ++panel) {
            const std::uint64_t hbm = first_row + (first_panel + panel) * result.panel_rows;
            transfer(false, out, static_cast<std::int64_t>(hbm), whole + panel * count);
        }
        pool_.give_back(whole);
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
    for (const Transposition::Axis& axis : axes) extents.push_back(axis.extent);
    // As many rows and columns as there is room for, in whole blocks.
    std::uint64_t rows = std::min(moved.rows, lanes_);
    std::uint64_t columns = std::min(moved.columns, lanes_);
    const auto needed = [&](std::uint64_t of_rows, std::uint64_t of_columns) {
        return of_rows * divide_up(of_columns, lanes_) + of_columns * divide_up(of_rows, lanes_);
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
    std::uint64_t from = row_of(id) + part.row * moved.rows_apart;
    std::uint64_t to = row_of(step.result) + part.column * moved.columns_apart;
    std::uint64_t inner = times;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        inner /= count[i];
        in.push_back({.extent = count[i],
                      .hbm = static_cast<std::int64_t>(axes[i].from),
                      .memory = inner * part.rows});
        out.push_back({.extent = count[i],
                       .hbm = static_cast<std::int64_t>(axes[i].to),
                       .memory = inner * part.columns});
        from += first[i] * axes[i].from;
        to += first[i] * axes[i].to;
    }
    in.push_back({.extent = part.rows, .hbm = static_cast<std::int64_t>(moved.rows_apart), .memory = 1});
    out.push_back(
        {.extent = part.columns, .hbm = static_cast<std::int64_t>(moved.columns_apart), .memory = 1});
    const std::uint64_t in_panel = times * part.rows;
    const std::uint64_t out_panel = times * part.columns;
    const std::uint64_t in_panels = divide_up(part.columns, lanes_);
    const std::uint64_t out_panels = divide_up(part.rows, lanes_);
    const std::uint64_t read = take(step, in_panels * in_panel + out_panels * out_panel);
    const std::uint64_t written = read + in_panels * in_panel;
    for (std::uint64_t panel = 0; panel < in_panels; ++panel) {
        const std::uint64_t hbm = from + (part.column / lanes_ + panel) * source.panel_rows;
        transfer(true, in, static_cast<std::int64_t>(hbm), read + panel * in_panel);
    }
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
        transfer(false, out, static_cast<std::int64_t>(hbm), written + row * out_panel);
    }
    pool_.give_back(read);
}

}  // namespace systole::tensor_core
