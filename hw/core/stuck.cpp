#include "hw/core/stuck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <variant>

#include "hw/isa/assembly.h"
#include "hw/isa/footprint.h"

namespace systole::hw {
namespace {

constexpr std::size_t sequencer = isa::queue_count;

/// A wait and the unit that could end it; none if no instruction is left that would.
struct Wait {
    InstructionNumber number = 0;
    std::string reason;
    std::optional<std::size_t> waits_for;
};

class StuckUnits {
public:
    explicit StuckUnits(const StuckProgram& stuck)
        : stuck_(stuck), code_(stuck.program.instructions), end_(end_of(stuck.program)) {}

    std::vector<StuckWait> in_order() const {
        std::vector<std::size_t> units = cause();
        for (std::size_t unit = 0; unit <= sequencer; ++unit) {
            const bool is_idle = unit != sequencer && !stuck_.waiting[unit];
            if (is_idle || std::find(units.begin(), units.end(), unit) != units.end()) continue;
            units.push_back(unit);
        }
        std::vector<StuckWait> waits;
        for (const std::size_t unit : units) {
            Wait wait = wait_of(unit);
            waits.push_back({.unit = name_of(unit), .number = wait.number, .reason = std::move(wait.reason)});
        }
        return waits;
    }

private:
    /// The number behind the last instruction that can be issued.
    static InstructionNumber end_of(const isa::Program& program) {
        const auto halt =
            std::find_if(program.instructions.begin(), program.instructions.end(),
                         [](const auto& each) { return std::holds_alternative<isa::Halt>(each); });
        return static_cast<InstructionNumber>(halt - program.instructions.begin());
    }

    static std::string name_of(std::size_t unit) {
        return unit == sequencer ? "sequencer" : std::string(isa::name(static_cast<isa::QueueId>(unit)));
    }

    /// Follows the waits from the sequencer to the one that cannot end, or once around a circle.
    std::vector<std::size_t> cause() const {
        std::vector<std::size_t> path{sequencer};
        for (;;) {
            const auto next = wait_of(path.back()).waits_for;
            if (!next) return {path.back()};
            const auto seen = std::find(path.begin(), path.end(), *next);
            if (seen == path.end()) {
                path.push_back(*next);
                continue;
            }
            path.erase(path.begin(), seen);
            const auto earliest = std::min_element(
                path.begin(), path.end(), [this](auto a, auto b) { return number_of(a) < number_of(b); });
            std::rotate(path.begin(), earliest, path.end());
            return path;
        }
    }

    InstructionNumber number_of(std::size_t unit) const {
        return unit == sequencer ? stuck_.issued : *stuck_.waiting[unit];
    }

    /// The first instruction of the unit, from the one it waits in on, that `is_wanted` accepts: in its
    /// queue, or not issued yet.
    template <class IsWanted>
    std::optional<InstructionNumber> find(isa::QueueId unit, IsWanted is_wanted) const {
        const auto& waiting = stuck_.waiting[static_cast<std::size_t>(unit)];
        for (InstructionNumber number = waiting.value_or(stuck_.issued); number < end_; ++number) {
            if (unit_of(number) == unit && is_wanted(code_[number])) return number;
        }
        return std::nullopt;
    }

    std::optional<isa::QueueId> unit_of(InstructionNumber number) const {
        return isa::queue_of(code_[number]);
    }

    /// The unit in which an instruction waits, or the sequencer, which has not issued it.
    std::size_t holder_of(InstructionNumber number) const {
        return number < stuck_.issued ? static_cast<std::size_t>(*unit_of(number)) : sequencer;
    }

    std::string quoted(InstructionNumber number) const {
        return fmt::format("instruction {}{}", number, number < stuck_.issued ? "" : " (not issued yet)");
    }

    Wait wait_of(std::size_t unit) const {
        const InstructionNumber number = number_of(unit);
        if (unit == sequencer) return wait_of_sequencer(number);
        const isa::Instruction& instruction = code_[number];
        if (const auto* wait = std::get_if<isa::SyncWait>(&instruction))
            return wait_for_signal(number, *wait);
        if (const auto& awaited = stuck_.awaited[unit]) return wait_for_work(number, *awaited);
        throw std::logic_error("an instruction that waits for nothing");
    }

    Wait wait_of_sequencer(InstructionNumber number) const {
        if (number < end_) {
            const isa::QueueId unit = *unit_of(number);
            return {number, fmt::format("for a place in the queue of {}", isa::name(unit)),
                    static_cast<std::size_t>(unit)};
        }
        Wait wait{number, "for all units to finish", std::nullopt};
        for (std::size_t unit = 0; unit < isa::queue_count; ++unit) {
            if (!stuck_.waiting[unit]) continue;
            if (!wait.waits_for || number_of(unit) < number_of(*wait.waits_for)) wait.waits_for = unit;
        }
        return wait;
    }

    Wait wait_for_signal(InstructionNumber number, const isa::SyncWait& wait) const {
        const std::string reason = fmt::format("for semaphore {}", wait.semaphore);
        if (stuck_.shares_semaphores && wait.semaphore >= isa::first_shared_semaphore) {
            return {number, reason + " of the system, which no core signals any more", std::nullopt};
        }
        std::optional<InstructionNumber> first;
        for (std::size_t unit = 0; unit < isa::queue_count; ++unit) {
            const auto found =
                find(static_cast<isa::QueueId>(unit), [&](const isa::Instruction& instruction) {
                    const auto* signal = std::get_if<isa::SyncSignal>(&instruction);
                    return signal != nullptr && signal->semaphore == wait.semaphore;
                });
            if (found && (!first || *found < *first)) first = found;
        }
        if (!first) return {number, reason + ", which no instruction signals any more", std::nullopt};
        return {number, fmt::format("{}, which {} signals", reason, quoted(*first)), holder_of(*first)};
    }

    Wait wait_for_work(InstructionNumber number, const AwaitedWork& awaited) const {
        const auto giver = find(awaited.from, awaited.gives);
        Wait wait{number, fmt::format(fmt::runtime(awaited.words), giver ? quoted(*giver) : awaited.nobody),
                  std::nullopt};
        if (giver) wait.waits_for = holder_of(*giver);
        return wait;
    }

    const StuckProgram& stuck_;
    const std::vector<isa::Instruction>& code_;
    const InstructionNumber end_;
};

}  // namespace

std::vector<StuckWait> waits_of(const StuckProgram& stuck) {
    return StuckUnits(stuck).in_order();
}

}  // namespace systole::hw
