#include "sim/functional/tiles/block_queue.h"

#include <fmt/format.h>

#include <string>

#include "hw/isa/program_error.h"
#include "hw/isa/tile_grid.h"

namespace systole::functional {
namespace {

std::string text_of(const Block& block) {
    return fmt::format("{} rows of {} units from {} on", block.rows, block.units,
                       block.streamed ? fmt::format("host address {:#x}", block.address)
                                      : fmt::format("unit {}", block.address));
}

}  // namespace

void BlockQueue::send(const Block& first, std::uint64_t groups, std::uint64_t repeats) {
    sent_.push_back({.first = first, .groups = groups, .repeats = repeats});
}

std::optional<Block> BlockQueue::take() {
    if (sent_.empty()) return std::nullopt;
    Sent& oldest = sent_.front();
    Block block = oldest.first;
    const std::uint64_t units = block.rows * block.units;
    block.address += oldest.group * (block.streamed ? units * isa::tile_unit_bytes : units);
    if (++oldest.group == oldest.groups) {
        oldest.group = 0;
        if (--oldest.repeats == 0) sent_.pop_front();
    }
    return block;
}

void BlockQueue::take(const Block& needed, std::string_view where, std::string_view taker) {
    const std::optional<Block> next = take();
    if (!next) {
        throw isa::ProgramError(
            fmt::format("there is no block {}; {} needs {}", where, taker, text_of(needed)));
    }
    if (*next == needed) return;
    throw isa::ProgramError(
        fmt::format("the next block {} is {}; {} needs {}", where, text_of(*next), taker, text_of(needed)));
}

}  // namespace systole::functional
