#include "hw/vector_unit/chain.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "base/arithmetic.h"
#include "hw/math/floats/word_operations.h"
#include "hw/math/floats/word_rows.h"

namespace systole::hw {
namespace {

math::WordHalf half_of_row(std::uint64_t row) {
    return row % 2 == 0 ? math::WordHalf::Lower : math::WordHalf::Upper;
}

}  // namespace

ChainWork::ChainWork(const isa::RunChain& run, const isa::Chain& chain, const isa::Registers& registers,
                     const isa::TensorShape& shape)
    : run_(run), chain_(&chain), lanes_(shape.lanes) {
    const auto place_of = [&](std::uint64_t first_row, const isa::RowWalk& walk, isa::Register panel_rows,
                              bool packed) {
        return Place{.panels = isa::panels_of(registers, shape, first_row,
                                              {walk.reach(run.rows), run.columns}, panel_rows, packed),
                     .walk = walk};
    };
    for (std::size_t i = 0; i < chain.sources.size(); ++i) {
        if (chain.sources[i].spread != isa::Spread::Rows) continue;
        sources_[i] =
            i == 0 ? place_of(run.sources[i], isa::walk_from(registers, run.rows),
                              isa::Register::SourcePanelRows, chain.sources[i].packed)
                   : place_of(run.sources[i], {}, isa::Register::OtherPanelRows, chain.sources[i].packed);
    }
    for (std::size_t i = 0; i < chain.results.size(); ++i) {
        results_[i] = place_of(run.results[i], i == 0 ? isa::walk_to(registers, run.rows) : isa::RowWalk{},
                               isa::Register::ResultPanelRows, chain.results[i].packed);
    }
}

void ChainWork::execute(std::uint32_t* memory, std::vector<std::uint32_t>& values) const {
    constexpr std::uint64_t cached_words = std::uint64_t{32} << 10U;
    const std::uint64_t row_words = chain_->values() * lanes_;
    // Two at least: the rows of a packed word are then in one block.
    const std::uint64_t rows = std::max<std::uint64_t>(2, cached_words / row_words / 2 * 2);
    if (values.size() < rows * row_words) values.resize(rows * row_words);
    std::vector<Value> found(chain_->values());
    const auto memory_of = [&](std::size_t value) { return values.data() + value * rows * lanes_; };
    for (std::uint64_t panel = 0; panel * lanes_ < run_.columns; ++panel) {
        for (std::uint64_t first = 0; first < run_.rows; first += rows) {
            const Block block{.panel = panel,
                              .columns = std::min<std::uint64_t>(lanes_, run_.columns - panel * lanes_),
                              .first = first,
                              .count = std::min<std::uint64_t>(rows, run_.rows - first)};
            const std::size_t sources = chain_->sources.size();
            for (std::size_t i = 0; i < sources; ++i) found[i] = load(i, block, memory, memory_of(i));
            for (std::size_t i = 0; i < chain_->steps.size(); ++i) {
                found[sources + i] = compute(i, block, found, memory_of(sources + i));
            }
            for (std::size_t i = 0; i < chain_->results.size(); ++i) {
                store(i, block, found[chain_->results[i].value], memory);
            }
        }
    }
}

std::uint64_t ChainWork::row_in_memory(const Place& place, const Block& block, std::uint64_t row) const {
    return place.panels.first_row_of(block.panel) + (place.panels.packed ? row / 2 : row);
}

ChainWork::Value ChainWork::load(std::size_t source, const Block& block, const std::uint32_t* memory,
                                 std::uint32_t* to) const {
    const std::uint64_t first_row = run_.sources[source];
    switch (chain_->sources[source].spread) {
        case isa::Spread::Row:
            return {.words = memory + (first_row + block.panel) * lanes_, .stride = 0};
        case isa::Spread::Column:
            return {.words = memory + (first_row + block.first) * lanes_, .stride = lanes_};
        case isa::Spread::Rows:
        case isa::Spread::Result: {
            // A copy: a result may replace the source in its place.
            const Place& place =
                chain_->sources[source].spread == isa::Spread::Result ? results_[0] : sources_[source];
            for (std::uint64_t i = 0; i < block.count; ++i) {
                const std::uint64_t row = place.walk.at(block.first + i);
                const std::uint32_t* const words = memory + row_in_memory(place, block, row) * lanes_;
                if (place.panels.packed) {
                    math::widen(words, block.columns, half_of_row(row), to + i * lanes_);
                } else {
                    std::copy_n(words, block.columns, to + i * lanes_);
                }
            }
            return {.words = to, .stride = lanes_};
        }
    }
    throw std::logic_error("a spread that does not exist");
}

ChainWork::Value ChainWork::compute(std::size_t step, const Block& block, const std::vector<Value>& values,
                                    std::uint32_t* to) const {
    const isa::ChainStep& each = chain_->steps[step];
    std::array<math::Words, 3> operands;
    bool rows_differ = each.operation == WordOperation::Row;
    for (std::size_t i = 0; i < each.operands.size(); ++i) {
        const Value& value = values[each.operands[i]];
        operands.at(i) = {value.words, value.stride};
        rows_differ |= value.stride != 0;
    }
    math::apply_operation(each.operation, std::span(operands).first(each.operands.size()), each.constant,
                          {.data = to,
                           .row_elements = lanes_,
                           .rows = rows_differ ? block.count : 1,
                           .columns = block.columns,
                           .first_row = block.first,
                           .first_column = block.panel * lanes_});
    return {.words = to, .stride = rows_differ ? lanes_ : 0};
}

void ChainWork::store(std::size_t result, const Block& block, const Value& value,
                      std::uint32_t* memory) const {
    const Place& place = results_[result];
    for (std::uint64_t i = 0; i < block.count; ++i) {
        const std::uint64_t row = place.walk.at(block.first + i);
        std::uint32_t* const words = memory + row_in_memory(place, block, row) * lanes_;
        const std::uint32_t* const from = value.words + i * value.stride;
        if (place.panels.packed) {
            math::narrow(from, block.columns, half_of_row(row), words);
        } else {
            std::copy_n(from, block.columns, words);
        }
    }
}

}  // namespace systole::hw
