// What chains read beside what their step computes.
#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {
namespace {

/// Whether there is one row for each image, and not one for each row of the result.
bool is_by_image(OperandKind kind) {
    return kind == OperandKind::ImageRow || kind == OperandKind::Number;
}

/// Whether all lanes of a row need the number of its one column.
bool needs_all_lanes(const Operand& operand, const Tensor& tensor) {
    const bool is_one_column = operand.kind == OperandKind::Column || operand.kind == OperandKind::Number;
    return is_one_column && !tensor.fills_lanes;
}

/// What the chains of a step, and sums beside them, read beside what it computes. Of a chain before a
/// reduction, all but the rows that become fewer: these come in some at a time.
std::vector<Operand> operands_of(const Step& step) {
    std::vector<Operand> operands;
    for (const ChainUse* const chain : chains_of(step))
        operands.insert(operands.end(), chain->operands.begin(), chain->operands.end());
    for (const ChainUse& chain : step.before) {
        for (const Operand& operand : chain.operands) {
            if (is_by_image(operand.kind) || operand.kind == OperandKind::Column) operands.push_back(operand);
        }
    }
    if (step.kind != StepKind::Chain) return operands;
    for (const Step& sum : step.sums) {
        for (const TensorId id : summed_by(sum)) operands.push_back({OperandKind::Rows, id});
        for (const ChainUse& chain : sum.before) {
            std::ranges::copy_if(chain.operands, std::back_inserter(operands),
                                 [](const Operand& operand) { return is_by_image(operand.kind); });
        }
    }
    return operands;
}

/// Whether each tile needs rows of its own. Others are there for all tiles, or are the step's.
bool comes_by_tiles(const Operand& operand) {
    return operand.kind != OperandKind::Before && operand.kind != OperandKind::Row;
}

}  // namespace

StepEmitter::OperandRows StepEmitter::rows_for_tile(const Step& step, const ResultRows& of, const Tile& tile,
                                                    const Operand& operand) const {
    // What the images of the graph share is there once.
    const bool once = network_.tensors[operand.tensor].is_shared && !network_.tensors[step.result].is_shared;
    if (is_by_image(operand.kind)) {
        if (once) return {.first = 0, .count = 1};
        return {.first = tile.graph_image(of), .count = tile.graph_images(of)};
    }
    if (!once) return {.first = tile.first_row(of), .count = tile.rows(of)};
    const std::uint64_t first = (tile.image % of.inner * of.lines + tile.line) * of.width;
    return {.first = first, .count = (of.inner == 1 ? 1 : tile.images) * tile.lines * of.width};
}

std::uint64_t StepEmitter::operand_rows(const Step& step, const ResultRows& of, const Tile& tile) const {
    std::uint64_t rows = 0;
    const std::vector<TensorId> own = written_by(step);
    std::set<TensorId> counted(own.begin(), own.end());
    for (const Operand& operand : operands_of(step)) {
        if (!comes_by_tiles(operand) || comes_by_panels(step, operand)) continue;
        const Tensor& tensor = network_.tensors[operand.tensor];
        const std::uint64_t count = rows_for_tile(step, of, tile, operand).count;
        if (!is_kept(operand.tensor) && counted.insert(operand.tensor).second)
            rows += tensor.memory_rows(count) * panels(operand.tensor);
        if (needs_all_lanes(operand, tensor)) rows += count;
    }
    return rows;
}

void StepEmitter::load_operands(Work& work) {
    const std::vector<TensorId> own = written_by(work.step);
    for (const Operand& operand : operands_of(work.step)) {
        if (!comes_by_tiles(operand) || comes_by_panels(work.step, operand)) continue;
        if (work.operands.contains(operand.tensor) || std::ranges::count(own, operand.tensor) > 0) continue;
        const OperandRows rows = rows_for_tile(work.step, work.of, work.tile, operand);
        View view = load(work, operand.tensor, rows.first, rows.count);
        if (needs_all_lanes(operand, network_.tensors[operand.tensor])) {
            // A maximum over one column writes that number to all lanes.
            stream_.append(isa::ReduceLanes{.reduction = Reduction::Maximum,
                                            .result = field32(work.next),
                                            .source = field32(view.row),
                                            .rows = field32(rows.count),
                                            .columns = 1});
            view = {.row = work.next, .panel_rows = rows.count};
            work.next += rows.count;
        }
        work.operands.emplace(operand.tensor, view);
    }
}

// Products whose weights come in for each tile again: the fewer tiles, the better. So only the panel at hand
// has its result, and what its chains read, in vector memory.

bool StepEmitter::goes_by_panels(const Step& step) const {
    return step.kind == StepKind::Product && !step.reads_lines && !step.by_depth && !keeps_weights(step);
}

bool StepEmitter::comes_by_panels(const Step& step, const Operand& operand) const {
    return operand.kind == OperandKind::Rows && goes_by_panels(step);
}

/// Of a tile, what each panel of the result needs by itself.
std::uint64_t StepEmitter::rows_of_panel(const Step& step, const ResultRows& of, const Tile& tile) const {
    if (!goes_by_panels(step)) return 0;
    const Tensor& result = network_.tensors[step.result];
    std::uint64_t rows = is_kept(step.result) ? 0 : result.memory_rows(tile.rows(of));
    if (packs_at_the_end(step)) rows += tile.rows(of);
    std::set<TensorId> counted;
    for (const ChainUse& chain : step.chains) {
        for (const Operand& operand : chain.operands) {
            if (operand.kind != OperandKind::Rows || is_kept(operand.tensor)) continue;
            const std::uint64_t count = rows_for_tile(step, of, tile, operand).count;
            if (counted.insert(operand.tensor).second)
                rows += network_.tensors[operand.tensor].memory_rows(count);
        }
    }
    return rows;
}

/// Of the free rows: those of three panels of the weights, as a part takes a third of what is free
/// (multiply); not so many that there are few for the tiles.
std::uint64_t StepEmitter::room_for_weights(const Step& step, std::uint64_t gap) const {
    const std::uint64_t panel = round_up(depth_of(step), array_rows_);
    return std::min(gap / 3, 3 * panel);
}

void StepEmitter::emit_panels(const Work& work, const Shared& shared) {
    const Step& step = work.step;
    for (std::uint64_t panel = 0; panel < panels(step.result); ++panel) {
        Work part = work;
        const std::uint64_t needed = rows_of_panel(step, work.of, work.tile);
        std::optional<std::uint64_t> taken;
        if (needed > 0) taken = take(step, needed);
        part.next = taken.value_or(0);
        for (const ChainUse& chain : step.chains) {
            for (const Operand& operand : chain.operands) {
                if (operand.kind != OperandKind::Rows || part.operands.contains(operand.tensor)) continue;
                const OperandRows rows = rows_for_tile(step, work.of, work.tile, operand);
                part.operands.emplace(operand.tensor, load_panel(part, operand.tensor, rows, panel));
            }
        }
        const Tensor& result = network_.tensors[step.result];
        View place{.row = part.next, .panel_rows = 0, .is_packed = result.is_packed};
        if (is_kept(step.result)) {
            place = place_result(part, step.result);
        } else {
            part.next += result.memory_rows(part.rows);
        }
        part.result = place;
        if (packs_at_the_end(step)) {
            part.packed = place;
            part.result = {.row = part.next};
        }
        multiply(part, shared, panel);
        run_chains(part, shared, panel);
        store(part, step.result, place, panel);
        if (taken) pool_.give_back(*taken);
    }
}

/// The view has this panel alone.
View StepEmitter::load_panel(Work& work, TensorId id, const OperandRows& rows, std::uint64_t panel) {
    const Tensor& tensor = network_.tensors[id];
    const std::uint64_t first = tensor.memory_rows(rows.first);
    if (is_kept(id)) {
        return {.row = row_of(id) + first, .panel_rows = tensor.panel_rows, .is_packed = tensor.is_packed};
    }
    const std::uint64_t count = tensor.memory_rows(rows.count);
    const View view{.row = work.next, .panel_rows = 0, .is_packed = tensor.is_packed};
    copy_in(row_of(id) + panel * tensor.panel_rows + first, view.row, count);
    work.next += count;
    return view;
}

}  // namespace systole::tensor_core
