#include "compiler/target/tensor_core/step_emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {
namespace {

using isa::Register;

std::uint16_t u16(std::uint64_t value) {
    return static_cast<std::uint16_t>(value);
}

/// What is taken together with the result that is there: an element of a window.
isa::Chain tap_chain(const Step& step) {
    if (step.kind == StepKind::Depthwise) {
        return {.name = {},
                .sources = {{}, {.spread = isa::Spread::Row}, {.spread = isa::Spread::Result}},
                .steps = {{.operation = WordOperation::MultiplyAdd, .operands = {0, 1, 2}}},
                .results = {{.value = 3}}};
    }
    return {.name = {},
            .sources = {{}, {.spread = isa::Spread::Result}},
            .steps = {{.operation = operation_of(step.reduction), .operands = {1, 0}}},
            .results = {{.value = 2}}};
}

/// Whether a step reads packed rows of its source as they are.
bool reads_pairs(const Step& step) {
    return step.kind == StepKind::Product && !step.window;
}

isa::Spread spread_of(OperandKind kind) {
    switch (kind) {
        case OperandKind::Before:
        case OperandKind::Rows:
            return isa::Spread::Rows;
        case OperandKind::Row:
        case OperandKind::ImageRow:
        case OperandKind::Number:
            return isa::Spread::Row;
        case OperandKind::Column:
            return isa::Spread::Column;
    }
    throw std::logic_error("a kind of operand that does not exist");
}

/// Of a row of a matrix, the row of memory.
std::uint64_t row_in(const View& view, std::uint64_t panel, std::uint64_t row) {
    return view.of_panel(panel) + (view.is_packed ? row / 2 : row);
}

}  // namespace

isa::Chain constant_chain(std::uint32_t word) {
    return {.name = {},
            .steps = {{.operation = WordOperation::Constant, .constant = word}},
            .results = {{.value = 0}}};
}

std::uint16_t ChainTable::index_of(isa::Chain chain) {
    for (std::size_t i = 0; i < chains_.size(); ++i) {
        const isa::Chain& each = chains_[i];
        if (each.sources == chain.sources && each.steps == chain.steps && each.results == chain.results)
            return u16(i);
    }
    if (chains_.size() > 0xFFFF)
        throw ModelError("the network has more than 65536 kinds of element-wise work");
    chain.name = fmt::format("chain{}", chains_.size());
    chains_.push_back(std::move(chain));
    return u16(chains_.size() - 1);
}

StepEmitter::StepEmitter(const Network& network, const MemoryPlan& plan,
                         const machine::MachineConfig& machine, emit::InstructionStream& stream)
    : network_(network),
      machine_(machine),
      lanes_(machine.vector_unit.lanes),
      array_rows_(machine.matrix_unit.rows),
      tile_rows_(plan.tile_rows),
      least_tile_rows_(tile_rows_.empty() ? 0 : std::ranges::min(tile_rows_)),
      stream_(stream) {}

void StepEmitter::begin(std::uint64_t first_image, std::uint64_t images, std::uint64_t turn,
                        std::uint64_t present) {
    first_image_ = first_image;
    images_ = images;
    present_ = present;
    turn_ = turn;
}

std::uint64_t StepEmitter::row_of(TensorId id) const {
    const Tensor& tensor = network_.tensors[id];
    const bool has_all = !tensor.is_shared && !tensor.is_in_segment;
    const std::uint64_t row = turn_ == 0 ? tensor.row : tensor.next_row.value_or(tensor.row);
    return row + (has_all ? first_image_ * tensor.image_rows : 0);
}

void StepEmitter::emit(const Step& step) {
    pool_.resize(least_tile_rows_);
    // For large products, more room is always less to move.
    if (network_.room_by_step || goes_by_panels(step) || step.by_depth)
        pool_.resize(tile_rows_.at(static_cast<std::size_t>(&step - network_.steps.data())));
    stream_.tag(u16(step.layer + 1));
    if (step.kind == StepKind::GatherRows) return gather_rows(step);
    if (step.kind == StepKind::Move) return move(step);
    if (step.kind == StepKind::MoveBoxes) return move_boxes(step);
    if (step.kind == StepKind::Transpose) return transpose(step);
    if (step.kind == StepKind::AllReduce) return all_reduce(step);
    if (step.by_depth) return multiply_by_depth(step);
    const ResultRows of = result_rows(network_, step, images_);
    Shared shared;
    load_shared(step, shared);
    const bool is_long =
        step.kind == StepKind::ReduceRows &&
        (!step.before.empty() || !step.sums.empty() || rows_needed(step, of, {}) > pool_.largest_gap());
    if (is_long) {
        for (const Tile& tile : tiles_of(of, 1, 1)) reduce_long_rows(step, of, tile, shared);
    } else {
        emit_tiles(step, of, shared);
    }
    for (const std::uint64_t first : shared.taken) pool_.give_back(first);
}

void StepEmitter::emit_tiles(const Step& step, const ResultRows& of, Shared& shared) {
    std::vector<const Step*> sums;
    for (const Step& sum : step.sums) sums.push_back(&sum);
    shared.sums = begin_sums(sums, 0);
    for (const Tile& tile : choose_tiles(step, of)) {
        if (tile.line == 0 && tile.image > 0) shared.sums = begin_sums(sums, tile.image);
        emit_tile(step, of, tile, shared);
        if (tile.line + tile.lines == of.lines) end_sums(std::exchange(shared.sums, {}), shared);
    }
}

std::uint64_t StepEmitter::panels(TensorId tensor) const {
    return divide_up(network_.tensors[tensor].columns, lanes_);
}

std::uint64_t StepEmitter::columns_of_panel(TensorId tensor, std::uint64_t panel) const {
    return std::min(lanes_, network_.tensors[tensor].columns - panel * lanes_);
}

void StepEmitter::fail_for_room(const Step& step, std::uint64_t rows) const {
    throw ModelError(fmt::format(
        "{}: layer {}: its smallest part takes {} rows of vector memory; machine {} has {}, of which "
        "{} are free",
        network_.graph->name, network_.layers[step.layer].name, rows, machine_.name,
        machine_.vector_memory.rows, pool_.largest_gap()));
}

// Room for tiles.

/// For a whole tile; what comes and goes panel by panel is not in it (rows_of_panel).
std::uint64_t StepEmitter::rows_needed(const Step& step, const ResultRows& of, const Tile& tile) const {
    std::uint64_t rows = operand_rows(step, of, tile);
    const bool has_whole_result = !is_kept(step.result) && !stores_columns(step) && !goes_by_panels(step);
    const auto memory_rows = [&](TensorId id, std::uint64_t count) {
        return network_.tensors[id].memory_rows(count) * panels(id);
    };
    if (has_whole_result) rows += memory_rows(step.result, tile.rows(of));
    if (packs_at_the_end(step) && !goes_by_panels(step)) rows += 2 * tile.rows(of);
    for (const FurtherResult& further : step.further) {
        if (!is_kept(further.tensor)) rows += memory_rows(further.tensor, tile.rows(of));
    }
    if (step.kind == StepKind::Chain)
        return rows + (step.sums.empty() ? 0 : tile.rows(of));  // a panel that is summed
    if (step.reads_lines) {
        rows += strip_rows(step, tile);
    } else if (step.source_transposed) {
        rows += transposed_rows(step, tile.rows(of)) + rows_for_transposing(step);
    } else {
        const std::uint64_t count = source_rows(network_, step, of, tile).count;
        if (!step.before.empty()) return rows + rows_to_reduce(step, count);
        if (!is_kept(step.source)) rows += memory_rows(step.source, count);
        if (network_.tensors[step.source].is_packed && !reads_pairs(step))
            rows += count * panels(step.source);
    }
    if (step.kind == StepKind::Product && !shares_weights(step) && keeps_weights(step))
        rows += kept_weight_rows(step);
    if (step.kind == StepKind::SelectAndScatter) rows += scatter_rows(step, tile);
    return rows;
}

/// Of the tiles with so many lines each: the first ones, of which one needs as much room as any but the last.
std::uint64_t StepEmitter::different_tiles(const Step& step, std::uint64_t lines) {
    constexpr std::uint64_t until_alike = 3;
    if (step.kind != StepKind::SelectAndScatter) return until_alike;
    // How many windows meet a tile depends on its place between two windows, unless it is near a border.
    const ir::Window& window = *step.window;
    const std::uint64_t near_border = ir::covered_extent(window.kernel_height, window.dilation_y) / lines + 1;
    return window.stride_y + 2 * near_border;
}

/// As many tiles as let the next one come in while one is worked on; of whole images where there is room.
std::vector<Tile> StepEmitter::choose_tiles(const Step& step, const ResultRows& of) const {
    std::uint64_t gap = pool_.largest_gap();
    const bool by_panels = goes_by_panels(step);
    if (step.kind == StepKind::Product && !keeps_weights(step)) gap -= room_for_weights(step, gap);
    if (step.reads_lines) gap -= gap / 3;  // for the windows of some columns
    const auto needed = [&](std::uint64_t images, std::uint64_t lines) {
        std::uint64_t most = 0;
        const auto add = [&](std::uint64_t number) {
            const std::uint64_t line = number * lines;
            const Tile tile{
                .image = 0, .images = images, .line = line, .lines = std::min(lines, of.lines - line)};
            most = std::max(most, rows_needed(step, of, tile) + 2 * rows_of_panel(step, of, tile));
            if (step.reads_lines) most = std::max(most, 2 * rows_of_window_column(step, tile));
        };
        const std::uint64_t tiles = divide_up(of.lines, lines);
        for (std::uint64_t number = 0; number < std::min(tiles, different_tiles(step, lines)); ++number)
            add(number);
        add(tiles - 1);
        return most;
    };
    // The largest number up to `most` that fits: those below it fit, too.
    const auto most_below = [](std::uint64_t most, const auto& fits) {
        std::uint64_t low = 0;
        while (low < most) {
            const std::uint64_t middle = low + (most - low + 1) / 2;
            if (fits(middle)) {
                low = middle;
            } else {
                most = middle - 1;
            }
        }
        return low;
    };
    const auto even = [](std::uint64_t all, std::uint64_t most) {
        return divide_up(all, divide_up(all, most));
    };
    const std::uint64_t together = lines_together(step, of);
    // Of images or lines with so many rows each: fewer, so that there are as many tiles as the mapping wants.
    const auto at_most = [&](std::uint64_t some, std::uint64_t all, std::uint64_t rows) {
        if (by_panels) return some;
        const std::uint64_t enough = divide_up(Network::least_tile_rows, rows);
        return std::min(some, std::max(enough, divide_up(all, network_.least_tiles)));
    };
    // Weights come in again for each tile. The source does not: its panels follow those of the tile before,
    // cut by cut, as products take them.
    for (const std::uint64_t room : {by_panels ? gap : gap / 2, gap}) {
        const std::uint64_t all_images = of.together == 0 ? of.images : of.together;
        const std::uint64_t most_images = std::min(all_images, step.limits.images);
        const std::uint64_t images = most_below(step.limits.lines < of.lines ? 0 : most_images,
                                                [&](std::uint64_t n) { return needed(n, of.lines) <= room; });
        if (images > 0) {
            const std::uint64_t some = at_most(images, all_images, of.lines * of.width);
            return tiles_of(of, even(all_images, some), of.lines);
        }
        const std::uint64_t most_lines = std::min(of.lines - 1, step.limits.lines);
        const std::uint64_t lines =
            together * most_below(divide_up(most_lines, together),
                                  [&](std::uint64_t n) { return needed(1, n * together) <= room; });
        if (lines == 0) continue;
        // Tiles with fewer lines may meet more windows of which sums are scattered.
        const std::uint64_t equal_lines =
            round_up(even(of.lines, at_most(lines, of.lines, of.width)), together);
        return tiles_of(of, 1, needed(1, equal_lines) <= room ? equal_lines : lines);
    }
    fail_for_room(step, needed(1, together));
}

std::uint64_t StepEmitter::take(const Step& step, std::uint64_t rows) {
    const auto first = pool_.take(rows);
    if (!first) fail_for_room(step, rows);
    return *first;
}

// Into and out of vector memory.

void StepEmitter::copy_in(std::uint64_t hbm_row, std::uint64_t row, std::uint64_t rows) {
    stream_.append(
        isa::DmaIn{.hbm_row = field32(hbm_row), .row = field32(row), .rows = field32(rows), .blocks = 1});
}

View StepEmitter::load(Work& work, TensorId id, std::uint64_t first, std::uint64_t rows) {
    const Tensor& tensor = network_.tensors[id];
    const std::uint64_t row = row_of(id) + tensor.memory_rows(first);
    if (is_kept(id)) return {.row = row, .panel_rows = tensor.panel_rows, .is_packed = tensor.is_packed};
    const std::uint64_t count = tensor.memory_rows(rows);
    const View view{.row = work.next, .panel_rows = count, .is_packed = tensor.is_packed};
    for (std::uint64_t panel = 0; panel < panels(id); ++panel)
        copy_in(row + panel * tensor.panel_rows, view.of_panel(panel), count);
    work.next += count * panels(id);
    return view;
}

/// For units that read no packed rows.
View StepEmitter::load_words(Work& work, TensorId id, std::uint64_t first, std::uint64_t rows) {
    return words_of(work, load(work, id, first, rows), rows, network_.tensors[id].columns);
}

/// The view itself if its rows are not packed.
View StepEmitter::words_of(Work& work, const View& view, std::uint64_t rows, std::uint64_t columns) {
    if (!view.is_packed) return view;
    const View words{.row = work.next, .panel_rows = rows};
    repack(view, words, rows, columns);
    work.next += rows * divide_up(columns, lanes_);
    return words;
}

/// The same numbers, of which one of the views has two rows in one.
void StepEmitter::repack(const View& from, const View& to, std::uint64_t rows, std::uint64_t columns) {
    stream_.set(Register::WalkColumns, 0);
    stream_.set(Register::SourcePanelRows, field32(from.panel_rows));
    stream_.set(Register::ResultPanelRows, field32(to.panel_rows));
    const std::uint16_t chain = chains_.index_of({.name = {},
                                                  .sources = {{.packed = from.is_packed}},
                                                  .steps = {},
                                                  .results = {{.value = 0, .packed = to.is_packed}}});
    stream_.append(isa::RunChain{.chain = chain,
                                 .rows = field32(rows),
                                 .columns = field32(columns),
                                 .results = {field32(to.row), 0},
                                 .sources = {field32(from.row), 0, 0, 0}});
}

/// Whether a chain packs the result of work that makes no packed rows.
bool StepEmitter::packs_at_the_end(const Step& step) const {
    const bool is_one_chain = step.kind == StepKind::Chain && step.chains.size() == 1;
    return network_.tensors[step.result].is_packed && !is_one_chain;
}

/// Whether tiles of a step begin with even rows.
bool StepEmitter::goes_by_pairs(const Step& step) const {
    const auto is_packed = [&](TensorId id) { return network_.tensors[id].is_packed; };
    return std::ranges::any_of(written_by(step), is_packed) || std::ranges::any_of(read_by(step), is_packed);
}

std::uint64_t StepEmitter::lines_together(const Step& step, const ResultRows& of) const {
    if (step.source_transposed || !step.sums.empty()) return lanes_;
    // Rows that become one are an even number, if they are packed.
    if (step.kind == StepKind::ReduceRows) return 1;
    return goes_by_pairs(step) && of.width % 2 != 0 ? 2 : 1;
}

/// Constants that all tiles read, and weights if there is room for all of them.
void StepEmitter::load_shared(const Step& step, Shared& shared) {
    const auto add = [&](TensorId id) {
        if (shared.rows.contains(id)) return;
        const Tensor& tensor = network_.tensors[id];
        const std::uint64_t rows = tensor.rows;
        if (is_kept(id)) {
            shared.rows.emplace(id, View{.row = row_of(id), .panel_rows = tensor.panel_rows});
            return;
        }
        const std::uint64_t first = take(step, rows * panels(id));
        shared.taken.push_back(first);
        const View view{.row = first, .panel_rows = rows};
        for (std::uint64_t panel = 0; panel < panels(id); ++panel)
            copy_in(row_of(id) + panel * tensor.panel_rows, view.of_panel(panel), rows);
        shared.rows.emplace(id, view);
    };
    const auto add_rows = [&](const ChainUse& chain) {
        for (const Operand& operand : chain.operands) {
            if (operand.kind == OperandKind::Row) add(operand.tensor);
        }
    };
    for (const ChainUse* const chain : chains_of(step)) add_rows(*chain);
    for (const ChainUse& chain : step.before) add_rows(chain);
    for (const Step& sum : step.sums) load_shared(sum, shared);
    if (step.kind == StepKind::Depthwise) add(step.weights);
    if (step.kind != StepKind::Product || !keeps_weights(step)) return;
    if (!shares_weights(step)) return;
    shared.weights = take(step, kept_weight_rows(step));
    shared.taken.push_back(*shared.weights);
    load_weights(step, 0, *shared.weights);
}

/// Of a tensor that stays, its place there; else the next rows of the tile.
View StepEmitter::place_result(Work& work, TensorId id) const {
    const Tensor& tensor = network_.tensors[id];
    if (is_kept(id)) {
        return {.row = row_of(id) + tensor.memory_rows(work.tile.first_row(work.of)),
                .panel_rows = tensor.panel_rows,
                .is_packed = tensor.is_packed};
    }
    const std::uint64_t rows = tensor.memory_rows(work.tile.rows(work.of));
    const View view{.row = work.next, .panel_rows = rows, .is_packed = tensor.is_packed};
    work.next += rows * panels(id);
    return view;
}

void StepEmitter::store(const Work& work, TensorId id, const View& from, std::uint64_t panel) {
    if (is_kept(id)) return;
    const Tensor& tensor = network_.tensors[id];
    const std::uint64_t first = tensor.memory_rows(work.tile.first_row(work.of));
    stream_.append(isa::DmaOut{.hbm_row = field32(row_of(id) + panel * tensor.panel_rows + first),
                               .row = field32(from.of_panel(panel)),
                               .rows = field32(tensor.memory_rows(work.tile.rows(work.of))),
                               .blocks = 1});
}

// Work.

void StepEmitter::emit_tile(const Step& step, const ResultRows& of, const Tile& tile, const Shared& shared) {
    const std::uint64_t needed = rows_needed(step, of, tile);
    std::optional<std::uint64_t> taken;
    if (needed > 0) taken = take(step, needed);
    Work work{.step = step, .of = of, .tile = tile, .next = taken.value_or(0), .rows = tile.rows(of)};
    if (step.source_transposed) {
        work.source = load_transposed(work);
    } else if (step.kind != StepKind::Chain && !step.reads_lines) {
        work.source_rows = source_rows(network_, step, of, tile);
        const SourceRows& rows = work.source_rows;
        if (!step.before.empty()) {
            load_operands(work);
            work.source = compute_before(work, shared, rows.first);
        } else if (reads_pairs(step)) {
            work.source = load(work, step.source, rows.first, rows.count);
        } else {
            work.source = load_words(work, step.source, rows.first, rows.count);
        }
    }
    if (step.kind == StepKind::SelectAndScatter) load_scattered(work);
    if (step.kind == StepKind::Product && !shared.weights && keeps_weights(step)) {
        work.weights = work.next;
        load_weights(step, weights_image(work), work.next);
        work.next += kept_weight_rows(step);
    }
    load_operands(work);
    if (goes_by_panels(step)) {
        emit_panels(work, shared);
        if (taken) pool_.give_back(*taken);
        return;
    }
    if (!stores_columns(step)) work.result = place_result(work, step.result);
    work.operands.emplace(step.result, work.result);
    const View place = work.result;
    const bool packs = packs_at_the_end(step);
    const std::uint64_t computed = work.next;
    if (packs) {
        work.packed = place;
        work.next += 2 * tile.rows(of);
    }
    for (const FurtherResult& further : step.further)
        work.operands.emplace(further.tensor, place_result(work, further.tensor));
    work.summed = work.next;
    if (step.reads_lines) {
        multiply_lines(work, shared);
        if (taken) pool_.give_back(*taken);
        return;
    }
    for (std::uint64_t panel = 0; panel < panels(step.result); ++panel) {
        // One panel is packed while the next one is computed.
        if (packs) work.result = {.row = computed + panel % 2 * tile.rows(of)};
        switch (step.kind) {
            case StepKind::Product:
                multiply(work, shared, panel);
                break;
            case StepKind::Depthwise:
            case StepKind::Windows:
                reduce_windows(work, shared, panel);
                break;
            case StepKind::SelectAndScatter:
                select_and_scatter(work, panel);
                break;
            case StepKind::ReduceLanes:
                stream_.set(Register::SourcePanelRows, field32(work.source.panel_rows));
                stream_.append(isa::ReduceLanes{.reduction = step.reduction,
                                                .result = field32(work.result.row),
                                                .source = field32(work.source.row),
                                                .rows = field32(tile.rows(of)),
                                                .columns = field32(network_.tensors[step.source].columns)});
                break;
            case StepKind::ReduceRows:
                reduce_rows(work, panel);
                break;
            case StepKind::Chain:
            case StepKind::GatherRows:
            case StepKind::Move:
            case StepKind::MoveBoxes:
            case StepKind::Transpose:
            case StepKind::AllReduce:
                break;
        }
        run_chains(work, shared, panel);
        store(work, step.result, place, panel);
        add_further_results(work, shared, panel);
        add_panel_to_sums(work, shared, panel);
    }
    if (taken) pool_.give_back(*taken);
}

/// Of a panel of the result.
void StepEmitter::add_further_results(const Work& work, const Shared& shared, std::uint64_t panel) {
    for (const FurtherResult& further : work.step.further) {
        const View& to = work.operands.at(further.tensor);
        run_chain(work, shared, panel, further.chain, to);
        store(work, further.tensor, to, panel);
    }
}

/// Every row gets the word.
void StepEmitter::fill(std::uint64_t row, std::uint64_t rows, std::uint64_t columns, std::uint32_t word,
                       std::uint64_t panel_rows) {
    stream_.set(Register::WalkColumns, 0);
    stream_.set(Register::ResultPanelRows, field32(panel_rows));
    stream_.append(isa::RunChain{.chain = chains_.index_of(constant_chain(word)),
                                 .rows = field32(rows),
                                 .columns = field32(columns),
                                 .results = {field32(row), 0}});
}

/// Tap by tap, for the outputs of which it is inside the image.
void StepEmitter::reduce_windows(const Work& work, const Shared& shared, std::uint64_t panel) {
    const Step& step = work.step;
    const ir::Window& window = *step.window;
    const bool multiplies = step.kind == StepKind::Depthwise;
    const std::uint16_t chain = chains_.index_of(tap_chain(step));
    fill(work.result.of_panel(panel), work.tile.rows(work.of), columns_of_panel(step.result, panel),
         multiplies ? 0 : neutral_word(step.reduction));
    for (std::uint32_t line = 0; line < window.kernel_height; ++line) {
        for (std::uint32_t column = 0; column < window.kernel_width; ++column) {
            const TapOutputs outputs = outputs_of_tap(step, work.tile, line, column);
            if (outputs.empty()) continue;
            const std::uint64_t tap = std::uint64_t{line} * window.kernel_width + column;
            const std::uint64_t weights = multiplies ? shared.rows.at(step.weights).of_panel(panel) + tap : 0;
            take_tap(work, outputs, panel, chain, weights);
        }
    }
}

void StepEmitter::take_tap(const Work& work, const TapOutputs& outputs, std::uint64_t panel,
                           std::uint16_t chain, std::uint64_t weights) {
    const Step& step = work.step;
    const ir::Window& window = *step.window;
    stream_.set(Register::WalkColumns, field32(outputs.columns));
    stream_.set(Register::WalkLines, field32(outputs.lines));
    stream_.set(Register::FromColumnRows, window.stride_x);
    stream_.set(Register::FromLineRows, field32(std::uint64_t{window.stride_y} * step.image.width));
    stream_.set(Register::FromImageRows, field32(work.source_rows.lines * step.image.width));
    stream_.set(Register::ToColumnRows, 1);
    stream_.set(Register::ToLineRows, field32(work.of.width));
    stream_.set(Register::ToImageRows, field32(work.tile.lines * work.of.width));
    for (const Register reg :
         {Register::SourcePanelRows, Register::OtherPanelRows, Register::ResultPanelRows})
        stream_.set(reg, 0);
    const std::uint64_t source_line = outputs.source_line - work.source_rows.line;
    const std::uint64_t from = source_line * step.image.width + outputs.source_column;
    const std::uint64_t to = (outputs.line - work.tile.line) * work.of.width + outputs.column;
    stream_.append(
        isa::RunChain{.chain = chain,
                      .rows = field32(work.tile.images * outputs.lines * outputs.columns),
                      .columns = field32(columns_of_panel(step.result, panel)),
                      .results = {field32(work.result.of_panel(panel) + to), 0},
                      .sources = {field32(work.source.of_panel(panel) + from), field32(weights), 0, 0}});
}

void StepEmitter::reduce_rows(const Work& work, std::uint64_t panel) {
    const Step& step = work.step;
    stream_.set(Register::SourcePanelRows, 0);
    stream_.set(Register::ResultPanelRows, 0);
    for (std::uint64_t row = 0; row < work.tile.rows(work.of); ++row) {
        stream_.append(
            isa::ReduceRows{.reduction = step.reduction,
                            .result = field32(work.result.of_panel(panel) + row),
                            .source = field32(work.source.of_panel(panel) + row * step.reduced_rows),
                            .rows = field32(step.reduced_rows),
                            .columns = field32(columns_of_panel(step.result, panel))});
    }
}

/// The chains from the first one on.
void StepEmitter::run_chains(const Work& work, const Shared& shared, std::uint64_t panel, std::size_t first) {
    const std::vector<ChainUse>& chains = work.step.chains;
    const View& last = packs_at_the_end(work.step) ? work.packed : work.result;
    for (std::size_t i = first; i < chains.size(); ++i)
        run_chain(work, shared, panel, chains[i], i + 1 == chains.size() ? last : work.result);
}

void StepEmitter::run_chain(const Work& work, const Shared& shared, std::uint64_t panel,
                            const ChainUse& chain, const View& result, std::optional<TensorId> like) {
    const TensorId id = like.value_or(work.step.result);
    const bool is_shared_result = network_.tensors[id].is_shared;
    isa::Chain made{.name = {}, .steps = chain.steps};
    bool by_image = false;
    for (const Operand& operand : chain.operands) {
        const bool is_packed =
            operand.kind == OperandKind::Rows && work.operands.at(operand.tensor).is_packed;
        made.sources.push_back({.spread = spread_of(operand.kind), .packed = is_packed});
        by_image |= !is_shared_result && differs_by_image(network_, operand);
    }
    made.results = {{.value = static_cast<std::uint8_t>(made.values() - 1), .packed = result.is_packed}};
    stream_.set(Register::WalkColumns, 0);
    for (const Register reg :
         {Register::SourcePanelRows, Register::OtherPanelRows, Register::ResultPanelRows})
        stream_.set(reg, 0);
    const std::uint64_t pieces = by_image ? work.tile.graph_images(work.of) : 1;
    const std::uint64_t rows = work.rows / pieces;
    const std::uint16_t index = chains_.index_of(made);
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
        isa::RunChain run{.chain = index,
                          .rows = field32(rows),
                          .columns = field32(chain.fills_lanes ? lanes_ : columns_of_panel(id, panel)),
                          .results = {field32(row_in(result, panel, piece * rows)), 0}};
        for (std::size_t i = 0; i < chain.operands.size(); ++i) {
            const Operand& operand = chain.operands[i];
            const bool once = operand.kind != OperandKind::Before &&
                              network_.tensors[operand.tensor].is_shared && !is_shared_result;
            const std::uint64_t own = once ? 0 : piece * rows;
            switch (operand.kind) {
                case OperandKind::Before:
                    run.sources.at(i) = field32(work.result.of_panel(panel) + piece * rows);
                    break;
                case OperandKind::Rows:
                    run.sources.at(i) = field32(row_in(work.operands.at(operand.tensor), panel, own));
                    break;
                case OperandKind::Row:
                    run.sources.at(i) = field32(shared.rows.at(operand.tensor).of_panel(panel));
                    break;
                case OperandKind::ImageRow:
                    run.sources.at(i) = field32(work.operands.at(operand.tensor).of_panel(panel) + piece);
                    break;
                case OperandKind::Column:
                    run.sources.at(i) = field32(work.operands.at(operand.tensor).row + own);
                    break;
                case OperandKind::Number:
                    run.sources.at(i) = field32(work.operands.at(operand.tensor).row + (once ? 0 : piece));
                    break;
            }
        }
        stream_.append(run);
    }
}

}  // namespace systole::tensor_core
