#include "tests/support/random_program/weights.h"

#include <algorithm>
#include <variant>

#include "tests/support/random_program/draft.h"

namespace systole::tests {

void WeightRoom::pass(const isa::Instruction& instruction) {
    const auto take_for = [&](const isa::MatrixFlags& flags, std::uint64_t repeat) {
        if (!flags.keep_weights) take(repeat + 1);
    };
    if (const auto* weights = std::get_if<isa::ReadWeights>(&instruction)) read(weights->tiles);
    if (const auto* multiply = std::get_if<isa::MatrixMultiply>(&instruction)) {
        take_for(multiply->flags, multiply->repeat);
    }
    if (const auto* convolve = std::get_if<isa::Convolve>(&instruction)) {
        take_for(convolve->flags, convolve->repeat);
    }
}

namespace {

/// Tiles that no instruction takes: FIFO and shadow plane hold them.
void fetch_for_nobody(std::size_t tiles, std::uint64_t depth, Choices& choices,
                      std::vector<isa::Instruction>& result) {
    if (tiles == 0) return;
    const auto first = choices.from(0, tiles - 1);
    const auto count = choices.from(1, std::min<std::uint64_t>(tiles - first, depth + 1));
    result.emplace_back(isa::ReadWeights{.first_tile = static_cast<std::uint32_t>(first),
                                         .tiles = static_cast<std::uint16_t>(count)});
}

}  // namespace

std::vector<isa::Instruction> with_read_weights(const std::vector<DraftInstruction>& draft, std::size_t tiles,
                                                const machine::MachineConfig& machine, Choices& choices) {
    std::vector<std::uint32_t> uses;  // tiles in the order in which they are taken
    for (const DraftInstruction& each : draft) {
        for (std::uint32_t i = 0; i < each.tiles.count; ++i) uses.push_back(each.tiles.first + i);
    }
    WeightRoom room(machine.weight_fifo.depth_tiles);
    std::vector<isa::Instruction> result;
    // One instruction fetches tiles that lie behind each other, at most up to use number `end`.
    const auto read = [&](std::uint64_t end) {
        const std::uint64_t begin = room.asked();
        std::uint64_t next = begin + 1;
        while (next < end && uses[next] == uses[next - 1] + 1) ++next;
        result.emplace_back(
            isa::ReadWeights{.first_tile = uses[begin], .tiles = static_cast<std::uint16_t>(next - begin)});
        room.read(next - begin);
    };
    const unsigned ahead_percent = choices.chance(50) ? 15 : 60;
    std::uint64_t taken = 0;
    for (const DraftInstruction& each : draft) {
        // It may have to wait for earlier fetches, and what stands behind it for it: a fetch that waits until
        // the array takes a tile may not stand before it.
        if (std::holds_alternative<isa::WriteWeights>(each.instruction) && !room.all_there()) continue;
        if (std::holds_alternative<isa::Halt>(each.instruction) && choices.chance(20)) {
            fetch_for_nobody(tiles, machine.weight_fifo.depth_tiles, choices, result);
        }
        // A fetch that has to wait for the array holds up its queue: no other behind it before it must.
        while (room.asked() < uses.size() && room.all_there() && choices.chance(ahead_percent)) {
            read(std::min<std::uint64_t>(uses.size(), room.asked() + choices.from(1, 6)));
        }
        taken += each.tiles.count;
        while (room.asked() < taken) read(taken);
        result.push_back(each.instruction);
        room.take(each.tiles.count);
    }
    return result;
}

}  // namespace systole::tests
