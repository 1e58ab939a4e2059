#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace systole::isa {

/// Rows of a memory that lie equally far apart.
struct RowAxis {
    std::uint32_t extent = 1;
    std::uint32_t apart = 1;  ///< rows from an index to the next

    bool operator==(const RowAxis&) const = default;
};

enum class ResidentSide : std::uint8_t {
    Input,   ///< its elements are in the memory before the first instruction
    Output,  ///< its elements stay in the memory after the last one
};
inline constexpr std::array<std::string_view, 2> resident_side_names = {"input", "output"};

/// An input or output of a program for a tensor core that lies in the high-bandwidth memory of each core, as
/// the program before has left it or the next one finds it: no instruction and no time brings it. A matrix of
/// 32-bit words in panels of as many columns as there are lanes. Its buffer in host memory has the same
/// elements, row by row, inference by inference: it is read before the run, or written after it.
struct ResidentTensor {
    ResidentSide side = ResidentSide::Input;
    std::uint32_t number = 0;          ///< of the program's inputs or outputs
    std::uint32_t inferences = 1;      ///< of a core; the next core has those behind them
    std::uint32_t first_row = 0;       ///< of the memory
    std::uint32_t inference_rows = 0;  ///< from an inference to the next
    std::uint32_t panel_rows = 0;      ///< from a panel to the next
    std::uint32_t columns = 1;         ///< words of a row
    /// Of the rows of an inference, the one that changes fastest last.
    std::vector<RowAxis> axes = {};

    bool operator==(const ResidentTensor&) const = default;

    /// Rows of an inference. They must fit in 64 bits.
    std::uint64_t rows() const {
        std::uint64_t rows = 1;
        for (const RowAxis& axis : axes) rows *= axis.extent;
        return rows;
    }
    /// Words of a core's inferences in host memory.
    std::uint64_t words() const { return inferences * rows() * columns; }
    /// The place of a row of an inference.
    std::uint64_t memory_row(std::uint64_t inference, std::uint64_t row) const {
        std::uint64_t place = first_row + inference * inference_rows;
        for (std::size_t i = axes.size(); i-- > 0;) {
            place += row % axes[i].extent * axes[i].apart;
            row /= axes[i].extent;
        }
        return place;
    }
    /// Behind the last row that it has in the memory, or a number above all 32-bit ones.
    std::uint64_t end_row(std::uint64_t lanes) const;
};

/// Calls `visit(word, memory_row, count)` for each part of a row that is in one row of the memory: the number
/// of its first word in the core's part of host memory, the row, and how many words.
template <class Visit>
void for_each_part(const ResidentTensor& tensor, std::uint64_t lanes, const Visit& visit) {
    std::uint64_t word = 0;
    for (std::uint64_t inference = 0; inference < tensor.inferences; ++inference) {
        for (std::uint64_t row = 0; row < tensor.rows(); ++row) {
            const std::uint64_t first = tensor.memory_row(inference, row);
            for (std::uint64_t column = 0; column < tensor.columns; column += lanes) {
                const std::uint64_t count = std::min<std::uint64_t>(lanes, tensor.columns - column);
                visit(word, first + column / lanes * tensor.panel_rows, count);
                word += count;
            }
        }
    }
}

}  // namespace systole::isa
