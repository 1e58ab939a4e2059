#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "hw/isa/queue.h"
#include "hw/machine/mapping.h"

namespace systole::emit {

/// The semaphore with which `waiter` waits for `signaller`; each pair of queues of a machine has its own. A
/// later queue's come behind those of the queues before it, so that a new one does not change the programs of
/// others. No machine has two of tiles, a tensor core and a weight writer: their queues have the same
/// numbers.
constexpr std::uint8_t semaphore_of(isa::QueueId signaller, isa::QueueId waiter) {
    constexpr auto first =
        static_cast<std::size_t>(isa::QueueId::Host);  // the queues before it share a square
    const auto place_of = [](isa::QueueId queue) {
        constexpr auto first_of_tiles = static_cast<std::size_t>(isa::QueueId::Ring);
        constexpr auto first_of_core = static_cast<std::size_t>(isa::QueueId::DmaIn);
        if (queue == isa::QueueId::WeightWrite) return first_of_tiles;  // of machines without tiles
        const auto place = static_cast<std::size_t>(queue);
        return place < first_of_core ? place : place - first_of_core + first_of_tiles;
    };
    const std::size_t from = place_of(signaller);
    const std::size_t to = place_of(waiter);
    const std::size_t later = std::max(from, to);
    if (later < first) return static_cast<std::uint8_t>(first * from + to);
    std::size_t base = first * first;
    for (std::size_t queue = first; queue < later; ++queue) base += 2 * (queue + 1);
    return static_cast<std::uint8_t>(from == later ? base + to : base + later + 1 + from);
}

/// Inserts the `sync` instructions with which the units, which execute their queues in parallel, give the
/// same results as the instructions one after the other. If two instructions of different units touch the
/// same row and one of them writes it, the later waits until the earlier has finished. A wait stands directly
/// before the instruction that needs it, its signal directly after the instruction that it reports. No `sync`
/// is inserted if the order already holds.
///
/// Counting semaphores suffice because the instructions of one unit that another unit waits for come in
/// ascending order, so the k-th wait of a pair of units belongs to the k-th signal.
///
/// With another `order` than Rows, the first matrix work of each layer, or also its first fetch of weights,
/// comes after all activations of the layers before it. A layer begins where debug_tag changes to a tag above
/// 0. `one_by_one`: each instruction comes after the one before it, of whatever unit, so that nothing
/// overlaps.
///
/// `program` gives the array, the host buffers and the host segments; its own instructions do not matter.
/// `instructions` must not contain sync. Throws ProgramError for invalid instructions (see isa::footprint),
/// std::logic_error for sync.
std::vector<isa::Instruction> synchronize(const std::vector<isa::Instruction>& instructions,
                                          const isa::Program& program,
                                          machine::LayerOrder order = machine::LayerOrder::Rows,
                                          bool one_by_one = false);

}  // namespace systole::emit
