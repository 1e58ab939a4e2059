#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <vector>

#include "hw/math/floats/float_values.h"
#include "hw/math/floats/word_operations.h"
#include "hw/math/floats/word_reduction.h"
#include "sim/functional/tensor/tensor_instructions.h"

namespace systole::functional {
namespace {

const isa::TensorShape& shape(const TensorState& state) {
    return state.program.geometry.tensor;
}

/// Reads and writes the elements of a chain.
class ChainElements {
public:
    ChainElements(const isa::RunChain& run, TensorState& state)
        : run_(run),
          state_(state),
          chain_(state.program.chains.at(run.chain)),
          from_(isa::walk_from(state.registers, run.rows)),
          to_(isa::walk_to(state.registers, run.rows)) {}

    std::uint32_t source(std::size_t place, std::uint64_t row, std::uint64_t column) {
        const isa::ChainSource& source = chain_.sources[place];
        const std::uint64_t first_row = run_.sources[place];
        switch (source.spread) {
            case isa::Spread::Rows: {
                const isa::RowWalk walk = place == 0 ? from_ : isa::RowWalk{};
                const isa::Register panel_rows =
                    place == 0 ? isa::Register::SourcePanelRows : isa::Register::OtherPanelRows;
                const isa::Panels panels = panels_of(first_row, walk, panel_rows, source.packed);
                if (!source.packed) return state_.word_of(panels, walk.at(row), column);
                return std::bit_cast<std::uint32_t>(state_.number(panels, walk.at(row), column));
            }
            case isa::Spread::Row:
                return state_.word(first_row + column / state_.lanes, column % state_.lanes);
            case isa::Spread::Column:
                return state_.word(first_row + row, column % state_.lanes);
            case isa::Spread::Result: {
                const bool packed = chain_.results[0].packed;
                const isa::Panels panels =
                    panels_of(run_.results[0], to_, isa::Register::ResultPanelRows, packed);
                if (!packed) return state_.word_of(panels, to_.at(row), column);
                return std::bit_cast<std::uint32_t>(state_.number(panels, to_.at(row), column));
            }
        }
        throw std::logic_error("a spread that does not exist");
    }

    void store(std::size_t place, std::uint64_t row, std::uint64_t column, std::uint32_t value) {
        const isa::RowWalk walk = place == 0 ? to_ : isa::RowWalk{};
        const bool packed = chain_.results[place].packed;
        const isa::Panels panels =
            panels_of(run_.results[place], walk, isa::Register::ResultPanelRows, packed);
        const std::uint64_t at = walk.at(row);
        if (!packed) {
            state_.word_of(panels, at, column) = value;
            return;
        }
        std::uint32_t& word = state_.word_of(panels, at / 2, column);
        const std::uint32_t half = math::bfloat16_bits(std::bit_cast<float>(value));
        word = at % 2 == 0 ? (word & 0xFFFF0000) | half : (word & 0x0000FFFF) | half << 16;
    }

private:
    isa::Panels panels_of(std::uint64_t first_row, const isa::RowWalk& walk, isa::Register panel_rows,
                          bool packed) const {
        return isa::panels_of(state_.registers, shape(state_), first_row,
                              {walk.reach(run_.rows), run_.columns}, panel_rows, packed);
    }

    const isa::RunChain& run_;
    TensorState& state_;
    const isa::Chain& chain_;
    isa::RowWalk from_;
    isa::RowWalk to_;
};

/// One number by halves: docs/isa.md, "Sums in order".
std::uint32_t by_halves(Reduction reduction, std::vector<std::uint32_t> numbers) {
    while (numbers.size() > 1) {
        const std::size_t half = std::bit_ceil(numbers.size()) / 2;
        for (std::size_t i = half; i < numbers.size(); ++i) {
            numbers[i - half] = math::combine(reduction, numbers[i - half], numbers[i]);
        }
        numbers.resize(half);
    }
    return numbers.front();
}

}  // namespace

void execute(const isa::RunChain& run, TensorState& state) {
    const isa::Chain& chain = state.program.chains.at(run.chain);
    ChainElements elements(run, state);
    std::vector<std::uint32_t> values(chain.values());
    for (std::uint64_t row = 0; row < run.rows; ++row) {
        for (std::uint64_t column = 0; column < run.columns; ++column) {
            for (std::size_t i = 0; i < chain.sources.size(); ++i)
                values[i] = elements.source(i, row, column);
            for (std::size_t i = 0; i < chain.steps.size(); ++i) {
                const isa::ChainStep& step = chain.steps[i];
                std::vector<math::Words> operands;
                for (const std::uint8_t operand : step.operands) operands.push_back({&values[operand], 1});
                math::apply_operation(step.operation, operands, step.constant,
                                      {.data = &values[chain.sources.size() + i],
                                       .row_elements = 1,
                                       .rows = 1,
                                       .columns = 1,
                                       .first_row = row,
                                       .first_column = column});
            }
            for (std::size_t i = 0; i < chain.results.size(); ++i) {
                elements.store(i, row, column, values[chain.results[i].value]);
            }
        }
    }
}

void execute(const isa::ReduceRows& reduce, TensorState& state) {
    const isa::Panels source = isa::panels_of(state.registers, shape(state), reduce.source,
                                              {reduce.rows, reduce.columns}, isa::Register::SourcePanelRows);
    const isa::Panels result = isa::panels_of(state.registers, shape(state), reduce.result,
                                              {1, reduce.columns}, isa::Register::ResultPanelRows);
    for (std::uint64_t column = 0; column < reduce.columns; ++column) {
        std::uint32_t& word = state.word_of(result, 0, column);
        bool has_some = reduce.accumulate;
        for (std::uint64_t first = 0; first < reduce.rows; first += state.lanes) {
            std::vector<std::uint32_t> block;
            for (std::uint64_t row = first; row < std::min<std::uint64_t>(reduce.rows, first + state.lanes);
                 ++row) {
                block.push_back(state.word_of(source, row, column));
            }
            const std::uint32_t one = by_halves(reduce.reduction, std::move(block));
            word = has_some ? math::combine(reduce.reduction, word, one) : one;
            has_some = true;
        }
    }
}

void execute(const isa::ReduceLanes& reduce, TensorState& state) {
    const isa::Panels source = isa::panels_of(state.registers, shape(state), reduce.source,
                                              {reduce.rows, reduce.columns}, isa::Register::SourcePanelRows);
    for (std::uint64_t row = 0; row < reduce.rows; ++row) {
        std::uint32_t all = 0;
        for (std::uint64_t first = 0; first < reduce.columns; first += state.lanes) {
            std::vector<std::uint32_t> block;
            for (std::uint64_t column = first;
                 column < std::min<std::uint64_t>(reduce.columns, first + state.lanes); ++column) {
                block.push_back(state.word_of(source, row, column));
            }
            const std::uint32_t one = by_halves(reduce.reduction, std::move(block));
            all = first == 0 ? one : math::combine(reduce.reduction, all, one);
        }
        std::ranges::fill(state.vector_memory.rows(reduce.result + row, 1), all);
    }
}

void execute(const isa::Transpose& transpose, TensorState& state) {
    for (std::uint64_t row = 0; row < transpose.rows; ++row) {
        for (std::uint64_t column = 0; column < transpose.columns; ++column) {
            state.word(transpose.result + column, row) = state.word(transpose.source + row, column);
        }
    }
}

void execute(const isa::MoveLanes& move, TensorState& state) {
    const isa::Panels source =
        isa::panels_of(state.registers, shape(state), move.source,
                       {move.rows, std::uint64_t{move.first} + move.columns}, isa::Register::SourcePanelRows);
    const isa::Panels result =
        isa::panels_of(state.registers, shape(state), move.result,
                       {move.rows, std::uint64_t{move.to} + move.columns}, isa::Register::ResultPanelRows);
    for (std::uint64_t row = 0; row < move.rows; ++row) {
        for (std::uint64_t column = 0; column < move.columns; ++column) {
            state.word_of(result, row, move.to + column) = state.word_of(source, row, move.first + column);
        }
    }
}

}  // namespace systole::functional
