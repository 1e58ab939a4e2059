#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/isa/chain.h"
#include "hw/isa/instruction.h"
#include "hw/isa/panels.h"
#include "hw/isa/registers.h"
#include "hw/isa/tensor_shape.h"

namespace systole::hw {

/// The work of a chain on rows of vector memory: an operation at a time, on blocks of rows that stay in this
/// computer's cache.
class ChainWork {
public:
    /// The chain must outlive the work.
    ChainWork(const isa::RunChain& run, const isa::Chain& chain, const isa::Registers& registers,
              const isa::TensorShape& shape);

    /// `memory` is row 0. `values` is memory for values; it may grow.
    void execute(std::uint32_t* memory, std::vector<std::uint32_t>& values) const;

private:
    /// Where the rows of a source or result lie.
    struct Place {
        isa::Panels panels = {};
        isa::RowWalk walk = {};
    };
    /// Rows [first, first + count) of columns of a panel.
    struct Block {
        std::uint64_t panel = 0;
        std::uint64_t columns = 0;
        std::uint64_t first = 0;
        std::uint64_t count = 0;
    };
    /// The words of a value in a block; `stride` is 0 where all rows are the same.
    struct Value {
        const std::uint32_t* words = nullptr;
        std::size_t stride = 0;
    };

    Value load(std::size_t source, const Block& block, const std::uint32_t* memory, std::uint32_t* to) const;
    Value compute(std::size_t step, const Block& block, const std::vector<Value>& values,
                  std::uint32_t* to) const;
    void store(std::size_t result, const Block& block, const Value& value, std::uint32_t* memory) const;
    std::uint64_t row_in_memory(const Place& place, const Block& block, std::uint64_t row) const;

    isa::RunChain run_;
    const isa::Chain* chain_;
    std::uint64_t lanes_;
    std::array<Place, isa::RunChain::most_sources> sources_;
    std::array<Place, isa::RunChain::most_results> results_;
};

}  // namespace systole::hw
