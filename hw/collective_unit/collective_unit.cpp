#include "hw/collective_unit/collective_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <variant>
#include <vector>

#include "hw/common/order_checker.h"
#include "hw/isa/assembly.h"
#include "hw/isa/instruction.h"
#include "hw/isa/tensor_shape.h"
#include "hw/math/floats/word_operations.h"
#include "hw/timing/tensor.h"

namespace systole::hw {
namespace {

void check_alike(std::span<const CollectivePart> parts, InstructionNumber number) {
    const isa::Collective& first = parts.front().instruction;
    for (std::size_t core = 1; core < parts.size(); ++core) {
        const isa::Collective& other = parts[core].instruction;
        if (other.kind == first.kind && other.rows == first.rows) continue;
        throw InstructionError(number,
                               fmt::format("core {} is at {}, and core 0 at {}: kind and rows must be the "
                                           "same",
                                           core, isa::to_string(isa::Instruction(other)),
                                           isa::to_string(isa::Instruction(first))));
    }
}

using Words = std::vector<std::uint32_t>;

const std::uint32_t* source_of(const CollectivePart& part, std::size_t lanes) {
    return part.memory + part.instruction.source * lanes;
}

void give(const Words& words, const CollectivePart& part, std::size_t lanes) {
    std::ranges::copy(words, part.memory + part.instruction.result * lanes);
}

/// The sums of these words of all cores, in their order.
Words sums_of(std::span<const CollectivePart> parts, std::size_t lanes, std::size_t first,
              std::size_t count) {
    std::vector<const std::uint32_t*> given;
    for (const CollectivePart& part : parts) given.push_back(source_of(part, lanes) + first);
    Words sums(count);
    math::add_settled(given, sums);
    return sums;
}

void exchange_rows(std::span<const CollectivePart> parts, std::size_t lanes) {
    const isa::Collective& collective = parts.front().instruction;
    const std::size_t words = collective.rows * lanes;
    switch (collective.kind) {
        case isa::CollectiveKind::AllReduce: {
            const Words sums = sums_of(parts, lanes, 0, words);
            for (const CollectivePart& part : parts) give(sums, part, lanes);
            return;
        }
        case isa::CollectiveKind::ReduceScatter:
            for (std::size_t core = 0; core < parts.size(); ++core) {
                give(sums_of(parts, lanes, core * words, words), parts[core], lanes);
            }
            return;
        case isa::CollectiveKind::AllGather: {
            Words all;
            for (const CollectivePart& part : parts) {
                all.insert(all.end(), source_of(part, lanes), source_of(part, lanes) + words);
            }
            for (const CollectivePart& part : parts) give(all, part, lanes);
            return;
        }
        case isa::CollectiveKind::Broadcast: {
            const Words first(source_of(parts.front(), lanes), source_of(parts.front(), lanes) + words);
            for (const CollectivePart& part : parts) give(first, part, lanes);
            return;
        }
    }
    throw std::logic_error("a collective of no kind");
}

}  // namespace

CollectiveUnit::CollectiveUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                               Collectives& meeting, WordMemoryAccess& vector_memory)
    : QueuedUnit(name, isa::QueueId::Collective, {.track = "collective", .signals = "collective_unit."},
                 context, context.cores > 1 ? &context.waits.exchanges() : nullptr),
      lanes_(context.machine.vector_unit.lanes),
      meeting_(meeting),
      vector_memory_(vector_memory) {
    if (context.cores > 1) context.waits.set_role(isa::QueueId::Collective, QueueRole::Exchanges);
    register_counters(counters());
    start("collective_unit", [this](const Command& command) { execute(command); });
}

void CollectiveUnit::execute(const Command& command) {
    const auto& collective = std::get<isa::Collective>(command.bound.instruction);
    begin();
    if (context_.computes_values()) wait_for_order();
    const Cycle begun =
        meeting_.meet(context_.core,
                      {.instruction = collective,
                       .memory = context_.computes_values() ? vector_memory_.from_row(0) : nullptr},
                      [&](std::span<const CollectivePart> parts) {
                          check_alike(parts, command.number);
                          if (!context_.computes_values()) return;
                          exchange_rows(parts, lanes_);
                      });
    stalled(counters_.peer_cycles);
    const timing::CollectiveCost cost = timing::collective_cost(collective, context_.core, context_.machine);
    counters_.sent_bytes.add(cost.sent_bytes, command.tag);
    vector_memory_.touch(command.bound.footprint);
    vector_memory_.count_reads(collective.rows_read() * lanes_ * isa::word_bytes, command.tag);
    vector_memory_.count_writes(collective.rows_written() * lanes_ * isa::word_bytes, command.tag);
    const Cycle done = begun + cost.cycles;
    context_.clock.wait_until(done);
    complete(done, done);
}

std::optional<AwaitedWork> CollectiveUnit::awaited(isa::QueueId queue) const {
    if (queue != isa::QueueId::Collective) return std::nullopt;
    return AwaitedWork{.from = isa::QueueId::Collective,
                       .gives = [](const isa::Instruction& /*instruction*/) { return false; },
                       .words = "for all other cores, of which one has {}",
                       .nobody = "no collective left"};
}

}  // namespace systole::hw
