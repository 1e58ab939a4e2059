#include "tests/support/random_program/order_relation.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "hw/isa/footprint.h"

namespace systole::tests {
namespace {

/// Of each unit, how many of the program's first instructions its work comes after.
using Clock = std::array<std::size_t, isa::queue_count>;

struct Queued {
    std::size_t number = 0;
    const isa::Instruction* instruction = nullptr;
    isa::Footprint footprint;
};

struct Done {
    Queued queued;
    std::size_t unit = 0;
    Clock behind{};
};

bool conflict(const isa::Footprint& a, const isa::Footprint& b) {
    return std::any_of(a.begin(), a.end(), [&](const isa::MemoryRows& one) {
        return std::any_of(b.begin(), b.end(), [&](const isa::MemoryRows& other) {
            return one.memory == other.memory &&
                   (one.access == isa::Access::Write || other.access == isa::Access::Write) &&
                   !one.rows.empty() && !other.rows.empty() && one.rows.overlaps(other.rows);
        });
    });
}

/// Runs the queues, one as far as it goes and then the next: which is first makes no difference.
class Queues {
public:
    explicit Queues(const isa::Program& program) {
        isa::Registers registers;
        for (std::size_t number = 0; number < program.instructions.size(); ++number) {
            const isa::Instruction& instruction = program.instructions[number];
            if (std::holds_alternative<isa::Halt>(instruction)) break;
            if (const auto* config = std::get_if<isa::SetConfig>(&instruction)) {
                registers.set(config->reg, config->value);
            }
            if (const auto unit = isa::queue_of(instruction)) {
                queues_[static_cast<std::size_t>(*unit)].push_back(
                    {number, &instruction, isa::footprint(instruction, registers, program)});
            }
        }
    }

    OrderRelation run() {
        bool moved = true;
        while (moved) {
            moved = false;
            for (std::size_t unit = 0; unit < isa::queue_count; ++unit) {
                while (step(unit)) moved = true;
            }
        }
        OrderRelation relation;
        for (std::size_t unit = 0; unit < isa::queue_count; ++unit) {
            if (queues_[unit].empty()) continue;
            const auto& wait = std::get<isa::SyncWait>(*queues_[unit].front().instruction);
            relation.stuck.push_back({static_cast<isa::QueueId>(unit), wait.semaphore});
        }
        for (const Done& later : done_) {
            for (const Done& earlier : done_) {
                if (earlier.queued.number >= later.queued.number || earlier.unit == later.unit) continue;
                if (later.behind[earlier.unit] > earlier.queued.number) continue;
                if (!conflict(earlier.queued.footprint, later.queued.footprint)) continue;
                relation.unordered.push_back({earlier.queued.number, later.queued.number});
            }
        }
        return relation;
    }

private:
    bool step(std::size_t unit) {
        if (queues_[unit].empty()) return false;
        const Queued next = queues_[unit].front();
        Clock& clock = clocks_[unit];
        if (const auto* wait = std::get_if<isa::SyncWait>(next.instruction)) {
            auto& signals = signals_[wait->semaphore];
            if (signals.empty()) return false;
            std::transform(clock.begin(), clock.end(), signals.front().begin(), clock.begin(),
                           [](std::size_t a, std::size_t b) { return std::max(a, b); });
            signals.pop_front();
        } else if (const auto* signal = std::get_if<isa::SyncSignal>(next.instruction)) {
            signals_[signal->semaphore].push_back(clock);
        } else {
            clock[unit] = next.number + 1;
            done_.push_back({next, unit, clock});
        }
        queues_[unit].pop_front();
        return true;
    }

    std::array<std::deque<Queued>, isa::queue_count> queues_;
    std::array<Clock, isa::queue_count> clocks_{};
    std::array<std::deque<Clock>, 256> signals_;
    std::vector<Done> done_;
};

}  // namespace

OrderRelation order_relation(const isa::Program& program) {
    return Queues(program).run();
}

}  // namespace systole::tests
