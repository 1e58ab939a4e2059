// Elements that go elsewhere: rows come in by DMA, columns move between lanes, and rows go out by DMA.
#include <algorithm>

#include "base/arithmetic.h"
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {
namespace {

using isa::Register;

/// Blocks of rows that lie equally far apart.
struct RowRun {
    std::uint64_t first = 0;
    std::uint64_t rows = 1;  ///< of a block
    std::uint64_t blocks = 1;
    std::uint64_t apart = 1;  ///< from one block to the next

    std::uint64_t count() const { return rows * blocks; }
};

/// The rows in their order, as few runs. A run goes upwards.
std::vector<RowRun> runs_of(const std::vector<std::uint64_t>& rows) {
    std::vector<RowRun> blocks;
    for (const std::uint64_t row : rows) {
        if (!blocks.empty() && blocks.back().first + blocks.back().rows == row) {
            ++blocks.back().rows;
        } else {
            blocks.push_back({.first = row});
        }
    }
    std::vector<RowRun> runs;
    for (const RowRun& block : blocks) {
        if (!runs.empty() && runs.back().rows == block.rows) {
            RowRun& run = runs.back();
            const std::uint64_t last = run.first + (run.blocks - 1) * run.apart;
            const bool is_next =
                run.blocks == 1 ? block.first >= run.first + run.rows : block.first == last + run.apart;
            if (is_next) {
                if (run.blocks == 1) run.apart = block.first - run.first;
                ++run.blocks;
                continue;
            }
        }
        runs.push_back(block);
    }
    return runs;
}

/// How often each row follows itself, if all do equally often.
std::uint64_t repeats_of(const std::vector<std::uint64_t>& rows) {
    std::uint64_t times = 1;
    while (times < rows.size() && rows[times] == rows[0]) ++times;
    if (rows.size() % times != 0) return 1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] != rows[i / times * times]) return 1;
    }
    return times;
}

}  // namespace

/// Each row of the result has its index in a column of the second source. An instruction takes those of one
/// row of memory, and some panels of the table at a time. Images that are not there have no rows gathered:
/// their words may be anything, and the machine refuses what is no index.
void StepEmitter::gather_rows(const Step& step) {
    const Tensor& result = network_.tensors[step.result];
    const std::uint64_t images = result.is_shared ? 1 : present_;
    const std::uint64_t rows = std::min(lanes_, result.rows);
    if (rows > pool_.largest_gap()) fail_for_room(step, rows);
    const std::uint64_t some = std::min(pool_.largest_gap() / rows, step.limits.lines);
    for (std::uint64_t image = 0; image < images; ++image) {
        for (std::uint64_t first = 0; first < result.rows; first += rows) {
            for (std::uint64_t panel = 0; panel < panels(step.result); panel += some) {
                gather_part(step, image,
                            {.row = first,
                             .rows = std::min(rows, result.rows - first),
                             .panel = panel,
                             .panels = std::min(some, panels(step.result) - panel)});
            }
        }
    }
}

void StepEmitter::gather_part(const Step& step, std::uint64_t image, const GatheredPart& part) {
    const Tensor& result = network_.tensors[step.result];
    const Tensor& table = network_.tensors[step.sources[0]];
    const Tensor& indices = network_.tensors[step.sources[1]];
    const std::uint64_t own_table = table.is_shared ? 0 : image * table.rows;
    const std::uint64_t own_indices = indices.is_shared ? 0 : image;
    const std::uint64_t to = take(step, part.rows * part.panels);
    stream_.set(Register::DmaHbmRows, field32(table.panel_rows));
    stream_.set(Register::DmaMemoryRows, field32(part.rows));
    stream_.append(isa::GatherRows{
        .hbm_row = field32(row_of(step.sources[0]) + own_table + part.panel * table.panel_rows),
        .table_rows = field32(table.rows),
        .indices = field32(row_of(step.sources[1]) + own_indices + part.row / lanes_ * indices.panel_rows),
        .row = field32(to),
        .rows = static_cast<std::uint16_t>(part.rows),
        .blocks = field32(part.panels)});
    for (std::uint64_t panel = 0; panel < part.panels; ++panel) {
        stream_.append(
            isa::DmaOut{.hbm_row = field32(row_of(step.result) + (part.panel + panel) * result.panel_rows +
                                           image * result.rows + part.row),
                        .row = field32(to + panel * part.rows),
                        .rows = field32(part.rows),
                        .blocks = 1});
    }
    pool_.give_back(to);
}

void StepEmitter::move(const Step& step) {
    const std::uint64_t images = network_.tensors[step.result].is_shared ? 1 : images_;
    for (const MovedRows& moved : step.moves) {
        std::uint64_t each = panels(step.result);  // rows of vector memory for a row of the result
        std::uint64_t most = 0;
        for (const MovedColumns& part : moved.columns) {
            most = std::max(most, part.source == Origin::none
                                      ? 1
                                      : (part.from + part.count - 1) / lanes_ - part.from / lanes_ + 1);
        }
        each += most;
        const std::uint64_t all = images * moved.rows.size();
        const std::uint64_t room = pool_.largest_gap();
        if (each > room) fail_for_room(step, each);
        const std::uint64_t some = std::clamp<std::uint64_t>(room / 3 / each, 1, step.limits.lines);
        for (std::uint64_t first = 0; first < all; first += some)
            move_rows(step, moved, first, std::min(some, all - first));
    }
}

/// Some of the rows of all images.
void StepEmitter::move_rows(const Step& step, const MovedRows& moved, std::uint64_t first,
                            std::uint64_t count) {
    const Tensor& result = network_.tensors[step.result];
    const auto rows_of = [&](const std::vector<std::uint64_t>& rows, std::uint64_t image_rows) {
        std::vector<std::uint64_t> all;
        all.reserve(count);
        for (std::uint64_t i = first; i < first + count; ++i)
            all.push_back(i / rows.size() * image_rows + rows[i % rows.size()]);
        return all;
    };
    const std::uint64_t whole = take(step, count * panels(step.result));
    for (const MovedColumns& part : moved.columns) {
        if (part.source == Origin::none) {
            fill_columns(step, whole, count, part.to, part.count, field32(part.from));
            continue;
        }
        const TensorId id = step.sources[part.source];
        const Tensor& source = network_.tensors[id];
        const std::uint64_t begin = part.from / lanes_;
        const std::uint64_t end = (part.from + part.count - 1) / lanes_ + 1;
        const std::vector<std::uint64_t> rows = rows_of(part.rows, source.is_shared ? 0 : source.rows);
        // What comes in behind the last column is written over by the parts that follow.
        const bool is_direct = part.to % lanes_ == 0 && part.from % lanes_ == 0;
        const std::uint64_t to =
            is_direct ? whole + part.to / lanes_ * count : take(step, count * (end - begin));
        for (std::uint64_t each = begin; each < end; ++each) {
            gather(rows, row_of(id) + each * source.panel_rows, to + (each - begin) * count, 1);
        }
        if (is_direct) continue;
        stream_.set(Register::SourcePanelRows, field32(count));
        stream_.set(Register::ResultPanelRows, field32(count));
        stream_.append(isa::MoveLanes{.result = field32(whole),
                                      .source = field32(to),
                                      .rows = field32(count),
                                      .columns = field32(part.count),
                                      .first = field32(part.from % lanes_),
                                      .to = field32(part.to)});
        pool_.give_back(to);
    }
    const std::vector<std::uint64_t> rows = rows_of(moved.rows, result.rows);
    for (std::uint64_t panel = 0; panel < panels(step.result); ++panel)
        scatter(rows, row_of(step.result) + panel * result.panel_rows, whole + panel * count);
    pool_.give_back(whole);
}

/// The same word for some columns of a matrix of so many rows.
void StepEmitter::fill_columns(const Step& step, std::uint64_t matrix, std::uint64_t rows, std::uint64_t to,
                               std::uint64_t columns, std::uint32_t word) {
    if (to % lanes_ == 0) {
        for (std::uint64_t done = 0; done < columns; done += lanes_)
            fill(matrix + (to + done) / lanes_ * rows, rows, std::min(lanes_, columns - done), word);
        return;
    }
    const std::uint64_t panel = take(step, rows);
    fill(panel, rows, lanes_, word);
    stream_.set(Register::SourcePanelRows, field32(rows));
    stream_.set(Register::ResultPanelRows, field32(rows));
    for (std::uint64_t done = 0; done < columns; done += lanes_) {
        stream_.append(isa::MoveLanes{.result = field32(matrix),
                                      .source = field32(panel),
                                      .rows = field32(rows),
                                      .columns = field32(std::min(lanes_, columns - done)),
                                      .first = 0,
                                      .to = field32(to + done)});
    }
    pool_.give_back(panel);
}

/// Rows of a panel come to rows of vector memory that lie so far apart.
void StepEmitter::gather(const std::vector<std::uint64_t>& rows, std::uint64_t hbm_row, std::uint64_t to,
                         std::uint64_t apart) {
    const std::uint64_t times = repeats_of(rows);
    if (times == rows.size() && times > 1 && apart == 1) {
        // One row for all: a chain copies it.
        copy_in(hbm_row + rows[0], to, 1);
        stream_.set(Register::WalkColumns, 0);
        stream_.set(Register::ResultPanelRows, 0);
        stream_.append(isa::RunChain{
            .chain =
                chains_.index_of({.name = {}, .sources = {{.spread = isa::Spread::Row}}, .results = {{}}}),
            .rows = field32(times - 1),
            .columns = field32(lanes_),
            .results = {field32(to + 1), 0},
            .sources = {field32(to), 0, 0, 0}});
        return;
    }
    if (times > 1 && apart == 1) {
        for (std::uint64_t turn = 0; turn < times; ++turn) {
            std::vector<std::uint64_t> some;
            for (std::size_t i = turn; i < rows.size(); i += times) some.push_back(rows[i]);
            gather(some, hbm_row, to + turn, times);
        }
        return;
    }
    for (const RowRun& run : runs_of(rows)) {
        // Rows that lie apart in vector memory are blocks of one row.
        const bool is_plain = run.rows > 1 && apart == 1;
        const std::uint64_t turns = apart == 1 || run.rows == 1 ? 1 : run.blocks;
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
            const std::uint64_t from = hbm_row + run.first + turn * run.apart;
            std::uint64_t block_rows = run.rows;
            std::uint64_t blocks = run.blocks;
            std::uint64_t hbm_apart = run.apart;
            if (!is_plain && run.rows > 1) {
                block_rows = 1;
                blocks = run.rows;
                hbm_apart = 1;
            }
            if (blocks > 1) {
                stream_.set(Register::DmaHbmRows, field32(hbm_apart));
                stream_.set(Register::DmaMemoryRows, field32(apart == 1 ? block_rows : apart));
            }
            stream_.append(isa::DmaIn{.hbm_row = field32(from),
                                      .row = field32(to),
                                      .rows = field32(block_rows),
                                      .blocks = field32(blocks)});
            to += block_rows * blocks * apart;
        }
    }
}

void StepEmitter::scatter(const std::vector<std::uint64_t>& rows, std::uint64_t hbm_row, std::uint64_t from) {
    for (const RowRun& run : runs_of(rows)) {
        if (run.blocks > 1) {
            stream_.set(Register::DmaHbmRows, field32(run.apart));
            stream_.set(Register::DmaMemoryRows, field32(run.rows));
        }
        stream_.append(isa::DmaOut{.hbm_row = field32(hbm_row + run.first),
                                   .row = field32(from),
                                   .rows = field32(run.rows),
                                   .blocks = field32(run.blocks)});
        from += run.count();
    }
}

}  // namespace systole::tensor_core
