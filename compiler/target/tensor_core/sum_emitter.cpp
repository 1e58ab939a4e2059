// Rows that become one and come in some at a time: whole blocks, so that sums have the same order as if all
// rows were there. Several sums of the same rows go on together, also beside chains that write such rows.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {
namespace {

using isa::Register;

/// The step's own sum, then those beside it.
std::vector<const Step*> sums_of(const Step& step) {
    std::vector<const Step*> sums{&step};
    for (const Step& sum : step.sums) sums.push_back(&sum);
    return sums;
}

}  // namespace

/// What so many rows that become one take: as they lie in memory, and words for each sum. Rows that are words
/// already need no others.
std::uint64_t StepEmitter::rows_to_reduce(const Step& step, std::uint64_t rows) const {
    std::set<TensorId> read;
    std::uint64_t all = 0;
    for (const Step* const sum : sums_of(step)) {
        for (const TensorId id : summed_by(*sum)) read.insert(id);
        if (!sum->before.empty() || network_.tensors[sum->source].is_packed) all += rows;
    }
    for (const TensorId id : read) all += network_.tensors[id].memory_rows(rows);
    return all * panels(step.source);
}

/// What the step reduces, of some rows.
View StepEmitter::compute_before(Work& work, const Shared& shared, std::uint64_t first) {
    const Step& step = work.step;
    for (const TensorId id : summed_by(step)) {
        if (!work.operands.contains(id)) work.operands.emplace(id, load(work, id, first, work.rows));
    }
    if (step.before.empty()) {
        return words_of(work, work.operands.at(step.source), work.rows,
                        network_.tensors[step.source].columns);
    }
    const View words{.row = work.next, .panel_rows = work.rows};
    work.next += work.rows * panels(step.source);
    work.result = words;  // what the next chain reads
    for (std::uint64_t panel = 0; panel < panels(step.source); ++panel) {
        for (const ChainUse& chain : step.before) run_chain(work, shared, panel, chain, words, step.source);
    }
    return words;
}

void StepEmitter::reduce_long_rows(const Step& step, const ResultRows& of, const Tile& tile,
                                   const Shared& shared) {
    const std::uint64_t blocks = (pool_.largest_gap() / 3) / rows_to_reduce(step, lanes_);
    const std::uint64_t part = std::max<std::uint64_t>(1, blocks) * lanes_;
    const std::vector<LongSum> sums = begin_sums(sums_of(step), tile.first_row(of));
    const std::uint64_t first = source_rows(network_, step, of, tile).first;
    for (std::uint64_t row = 0; row < step.reduced_rows; row += part) {
        const std::uint64_t rows = std::min(part, step.reduced_rows - row);
        const std::uint64_t at = take(step, rows_to_reduce(step, rows));
        std::uint64_t next = at;
        std::map<TensorId, View> loaded;
        for (const LongSum& sum : sums) {
            Work piece{.step = sum.step,
                       .of = sum.of,
                       .tile = sum.tile,
                       .next = next,
                       .operands = std::exchange(loaded, {}),
                       .rows = rows};
            piece.operands.insert(sum.operands.begin(), sum.operands.end());
            const View source = compute_before(piece, shared, first + row);
            for (std::uint64_t panel = 0; panel < panels(sum.step.result); ++panel)
                add_rows(sum, panel, source.of_panel(panel), rows, row == 0);
            next = piece.next;
            loaded = std::move(piece.operands);
        }
        pool_.give_back(at);
    }
    end_sums(sums, shared);
}

/// Begins the sums that become row `row` of each step's result. What a step does with its sum may read the
/// results of the steps before it.
std::vector<StepEmitter::LongSum> StepEmitter::begin_sums(const std::vector<const Step*>& steps,
                                                          std::uint64_t row) {
    std::vector<LongSum> sums;
    std::map<TensorId, View> results;
    for (const Step* const step : steps) {
        const ResultRows of = result_rows(network_, *step, images_);
        const bool is_here = is_kept(step->result);
        const Tile tile{.image = row / of.lines, .images = 1, .line = row % of.lines, .lines = 1};
        LongSum sum{.step = *step, .of = of, .tile = tile};
        sum.taken = take(*step, operand_rows(*step, of, tile) + (is_here ? 0 : panels(step->result)));
        Work work{.step = *step, .of = of, .tile = tile, .next = sum.taken, .operands = results};
        work.rows = tile.rows(of);
        load_operands(work);
        sum.result = {.row = work.next, .panel_rows = 1};
        if (is_here) {
            sum.result = {.row = row_of(step->result) + tile.first_row(of),
                          .panel_rows = network_.tensors[step->result].panel_rows};
        }
        sum.operands = std::move(work.operands);
        results.emplace(step->result, sum.result);
        sums.push_back(std::move(sum));
    }
    return sums;
}

/// Adds rows of a panel, which lie in vector memory from `from` on.
void StepEmitter::add_rows(const LongSum& sum, std::uint64_t panel, std::uint64_t from, std::uint64_t rows,
                           bool is_first) {
    stream_.set(Register::SourcePanelRows, 0);
    stream_.set(Register::ResultPanelRows, 0);
    stream_.append(isa::ReduceRows{.reduction = sum.step.reduction,
                                   .accumulate = !is_first,
                                   .result = field32(sum.result.of_panel(panel)),
                                   .source = field32(from),
                                   .rows = field32(rows),
                                   .columns = field32(columns_of_panel(sum.step.result, panel))});
}

void StepEmitter::end_sums(const std::vector<LongSum>& sums, const Shared& shared) {
    for (const LongSum& sum : sums) {
        Work work{.step = sum.step, .of = sum.of, .tile = sum.tile, .result = sum.result};
        work.operands = sum.operands;
        work.rows = sum.tile.rows(sum.of);
        for (std::uint64_t panel = 0; panel < panels(sum.step.result); ++panel) {
            run_chains(work, shared, panel);
            store(work, sum.step.result, sum.result, panel);
        }
    }
    for (const LongSum& sum : sums) pool_.give_back(sum.taken);
}

/// A tile of a chain's rows goes to all sums beside the chain.
void StepEmitter::add_panel_to_sums(const Work& work, const Shared& shared, std::uint64_t panel) {
    for (const LongSum& sum : shared.sums) {
        std::uint64_t from = work.summed;
        if (!sum.step.before.empty()) {
            Work summed = work;
            summed.result = {.row = work.summed};
            for (const ChainUse& chain : sum.step.before)
                run_chain(summed, shared, panel, chain, summed.result, sum.step.source);
        } else if (const View& rows = work.operands.at(sum.step.source); rows.is_packed) {
            repack({.row = rows.of_panel(panel), .is_packed = true}, {.row = work.summed}, work.rows,
                   columns_of_panel(sum.step.source, panel));
        } else {
            from = rows.of_panel(panel);
        }
        add_rows(sum, panel, from, work.rows, work.tile.line == 0);
    }
}

}  // namespace systole::tensor_core
