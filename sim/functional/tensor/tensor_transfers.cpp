#include <algorithm>
#include <cstring>
#include <span>

#include "hw/math/floats/float_values.h"
#include "sim/functional/tensor/tensor_instructions.h"

namespace systole::functional {
namespace {

/// The words of row `row` of a panel, as far as the matrix has columns there.
std::span<std::uint32_t> words_of_panel(TensorState& state, const isa::Panels& panels, std::uint64_t panel,
                                        std::uint64_t row, std::uint64_t columns) {
    const std::uint64_t count = std::min(state.lanes, columns - panel * state.lanes);
    return state.hbm.rows(panels.first_row_of(panel) + row, 1).first(count);
}

/// Bytes of the core's part of host memory.
std::span<std::uint8_t> host_range(std::uint64_t address, std::uint64_t bytes, TensorState& state) {
    const std::uint64_t apart = state.registers[isa::Register::HostCoreBytes];
    return state.host.range(address + state.registers.core() * apart, bytes);
}

/// Numbers of host memory become bfloat16, in one half of the words.
void pack(std::span<const std::uint8_t> from, std::uint64_t row, std::span<std::uint32_t> words) {
    constexpr std::uint32_t half_bits = 16;
    for (std::size_t i = 0; i < words.size(); ++i) {
        float number = 0;
        std::memcpy(&number, from.data() + i * sizeof(number), sizeof(number));
        words[i] |= std::uint32_t{math::bfloat16_bits(number)} << (row % 2 == 0 ? 0 : half_bits);
    }
}

template <class Dma>
isa::RowBlocks blocks_of(const Dma& dma) {
    return {.rows = dma.rows, .blocks = dma.blocks};
}

template <class Dma, class Copy>
void for_each_row(const Dma& dma, TensorState& state, Copy copy) {
    const isa::RowBlocks blocks = blocks_of(dma);
    const std::uint64_t hbm_stride = isa::hbm_stride(state.registers, blocks);
    const std::uint64_t memory_stride = isa::memory_stride(state.registers, blocks);
    for (std::uint64_t block = 0; block < blocks.blocks; ++block) {
        for (std::uint64_t row = 0; row < blocks.rows; ++row) {
            copy(state.hbm.rows(dma.hbm_row + block * hbm_stride + row, 1),
                 state.vector_memory.rows(dma.row + block * memory_stride + row, 1));
        }
    }
}

}  // namespace

void execute(const isa::Infeed& infeed, TensorState& state) {
    const isa::Panels panels =
        isa::hbm_panels(state.registers, state.program.geometry.tensor, infeed.hbm_row,
                        {infeed.rows, infeed.columns}, isa::Register::ResultPanelRows, infeed.packed);
    const std::uint64_t row_bytes = std::uint64_t{infeed.columns} * isa::word_bytes;
    const auto from = host_range(infeed.host_address, row_bytes * infeed.rows, state);
    for (std::uint64_t row = 0; row < infeed.rows; ++row) {
        for (std::uint64_t panel = 0; panel < panels.panels; ++panel) {
            const std::uint64_t memory_row = infeed.packed ? row / 2 : row;
            const auto whole = state.hbm.rows(panels.first_row_of(panel) + memory_row, 1);
            const bool is_new = !infeed.packed || row % 2 == 0;
            if (is_new) std::fill(whole.begin(), whole.end(), 0);
            const auto words = words_of_panel(state, panels, panel, memory_row, infeed.columns);
            if (infeed.packed) {
                const std::uint64_t first = row * row_bytes + panel * state.lanes * isa::word_bytes;
                pack(from.subspan(first, words.size_bytes()), row, words);
                continue;
            }
            std::memcpy(words.data(), from.data() + row * row_bytes + panel * state.lanes * isa::word_bytes,
                        words.size_bytes());
        }
    }
}

void execute(const isa::Outfeed& outfeed, TensorState& state) {
    const isa::Panels panels =
        isa::hbm_panels(state.registers, state.program.geometry.tensor, outfeed.hbm_row,
                        {outfeed.rows, outfeed.columns}, isa::Register::SourcePanelRows);
    const std::uint64_t row_bytes = std::uint64_t{outfeed.columns} * isa::word_bytes;
    const auto to = host_range(outfeed.host_address, row_bytes * outfeed.rows, state);
    for (std::uint64_t row = 0; row < outfeed.rows; ++row) {
        for (std::uint64_t panel = 0; panel < panels.panels; ++panel) {
            const auto words = words_of_panel(state, panels, panel, row, outfeed.columns);
            std::memcpy(to.data() + row * row_bytes + panel * state.lanes * isa::word_bytes, words.data(),
                        words.size_bytes());
        }
    }
}

void execute(const isa::DmaIn& dma, TensorState& state) {
    for_each_row(dma, state,
                 [](auto hbm, auto memory) { std::copy(hbm.begin(), hbm.end(), memory.begin()); });
}

void execute(const isa::GatherRows& gather, TensorState& state) {
    const std::uint64_t hbm_stride =
        isa::hbm_stride(state.registers, {.rows = gather.table_rows, .blocks = gather.blocks});
    const std::uint64_t memory_stride =
        isa::memory_stride(state.registers, {.rows = gather.rows, .blocks = gather.blocks});
    const auto indices = state.hbm.rows(gather.indices, 1);
    for (std::uint64_t row = 0; row < gather.rows; ++row) {
        const std::uint64_t place = gather.hbm_row + isa::gathered_row(gather, row, indices[row]);
        for (std::uint64_t block = 0; block < gather.blocks; ++block) {
            const auto from = state.hbm.rows(place + block * hbm_stride, 1);
            std::ranges::copy(from,
                              state.vector_memory.rows(gather.row + block * memory_stride + row, 1).begin());
        }
    }
}

void execute(const isa::DmaOut& dma, TensorState& state) {
    for_each_row(dma, state,
                 [](auto hbm, auto memory) { std::copy(memory.begin(), memory.end(), hbm.begin()); });
}

}  // namespace systole::functional
