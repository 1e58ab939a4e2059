#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "hw/isa/access_history.h"
#include "hw/isa/footprint.h"
#include "hw/isa/registers.h"
#include "tests/support/random_tiles/random_tiles.h"

namespace systole::tests {

isa::Program ordered(const isa::Program& program) {
    const std::vector<isa::Instruction>& code = program.instructions;
    std::vector<std::vector<isa::Instruction>> behind(code.size() + 1);  // signals, by position
    std::vector<std::vector<isa::Instruction>> before(code.size());
    isa::Registers registers;
    isa::ProgramHistory history;
    std::map<std::pair<std::size_t, std::size_t>, std::uint8_t> semaphores;
    std::array<isa::QueuePositions, isa::queue_count> known{};
    std::vector<isa::QueuePositions> known_at(code.size() + 1);
    for (std::size_t index = 0; index < code.size(); ++index) {
        if (const auto* set = std::get_if<isa::SetConfig>(&code[index])) registers.set(set->reg, set->value);
        const auto queue = isa::queue_of(code[index]);
        if (!queue) continue;
        const auto self = static_cast<std::size_t>(*queue);
        const isa::Footprint footprint = isa::footprint(code[index], registers, program);
        const isa::QueuePositions needed = history.conflicts(footprint).any;
        for (std::size_t other = 0; other < isa::queue_count; ++other) {
            if (other == self || needed[other] <= known[self][other]) continue;
            // One for each pair of queues, in the order of their use: as few as there can be.
            const auto semaphore =
                semaphores.try_emplace({other, self}, static_cast<std::uint8_t>(semaphores.size()))
                    .first->second;
            behind[needed[other]].emplace_back(isa::SyncSignal{static_cast<isa::QueueId>(other), semaphore});
            before[index].emplace_back(isa::SyncWait{*queue, semaphore});
            for (std::size_t each = 0; each < isa::queue_count; ++each) {
                known[self][each] = std::max(known[self][each], known_at[needed[other]][each]);
            }
            known[self][other] = needed[other];
        }
        const auto position = static_cast<isa::Position>(index + 1);
        known[self][self] = position;
        known_at[position] = known[self];
        history.record(footprint, *queue, position);
    }
    isa::Program result = program;
    result.instructions.clear();
    for (std::size_t index = 0; index < code.size(); ++index) {
        for (const auto& signal : behind[index]) result.instructions.push_back(signal);
        for (const auto& wait : before[index]) result.instructions.push_back(wait);
        result.instructions.push_back(code[index]);
    }
    return result;
}

}  // namespace systole::tests
