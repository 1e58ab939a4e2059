#include <algorithm>

#include "base/arithmetic.h"
#include "hw/isa/rows.h"
#include "sim/functional/instructions/instructions.h"

namespace systole::functional {
namespace {

/// Calls `move(host bytes, unified-buffer bytes)` for each block of a transfer.
template <class Transfer, class Move>
void for_each_block(const Transfer& transfer, State& state, Move move) {
    const std::uint64_t block_bytes = transfer.block_bytes;
    const std::uint64_t filled_rows = divide_up(block_bytes, state.row_bytes());
    const std::uint64_t block_rows = isa::host_block_rows(state.registers, block_bytes, state.row_bytes());
    const std::uint64_t stride = isa::host_block_stride(state.registers, block_bytes);
    const auto host = state.host.range(transfer.host_address, (transfer.blocks - 1) * stride + block_bytes);
    for (std::uint64_t block = 0; block < transfer.blocks; ++block) {
        const auto rows =
            state.unified_buffer.rows(transfer.unified_buffer_row + block * block_rows, filled_rows);
        move(host.subspan(block * stride, block_bytes), rows.first(block_bytes));
    }
}

}  // namespace

void execute(const isa::ReadHostMemory& read, State& state) {
    for_each_block(read, state, [](auto host, auto buffer) { std::ranges::copy(host, buffer.begin()); });
}

void execute(const isa::WriteHostMemory& write, State& state) {
    for_each_block(write, state, [](auto host, auto buffer) { std::ranges::copy(buffer, host.begin()); });
}

}  // namespace systole::functional
