#include "tests/support/random_program/synchronize.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "hw/isa/access_history.h"
#include "hw/isa/footprint.h"
#include "tests/support/random_program/weights.h"

namespace systole::tests {
namespace {

using isa::Position;
using isa::QueueId;
using isa::QueuePositions;

/// The queues of machines with a systolic array.
constexpr std::array used_queues{QueueId::HostRead,   QueueId::HostWrite,  QueueId::Weights,
                                 QueueId::Matrix,     QueueId::Activation, QueueId::Host,
                                 QueueId::WeightWrite};
constexpr std::size_t queues = used_queues.size();
constexpr auto weights_unit = static_cast<std::size_t>(QueueId::Weights);

/// The place of a queue among them.
std::size_t place_of(std::size_t queue) {
    const auto found = std::ranges::find(used_queues, static_cast<QueueId>(queue));
    return static_cast<std::size_t>(found - used_queues.begin());
}

/// A place for sync: directly before the instruction of that index. All its signals stand before its waits,
/// so that everything before a wait can be done without anything behind it.
struct Place {
    std::vector<isa::Instruction> signals;
    std::vector<isa::Instruction> waits;
};

/// Lays sync into a program: signals and waits of one semaphore in pairs, each signal before its wait.
class Layer {
public:
    explicit Layer(const Case& random)
        : program_(random.program),
          style_(random.sync),
          has_writer_(random.machine.weight_memory.writable.has_value()),
          places_(program_.instructions.size() + 1),
          choices_(style_.seed),
          known_at_(program_.instructions.size() + 1) {
        WeightRoom room(random.machine.weight_fifo.depth_tiles);
        for (const isa::Instruction& instruction : program_.instructions) {
            weights_move_.push_back(room.all_there());
            room.pass(instruction);
        }
        weights_move_.push_back(room.all_there());
        std::iota(semaphores_.begin(), semaphores_.end(), std::uint8_t{0});
        for (std::size_t i = semaphores_.size() - 1; i > 0; --i) {
            std::swap(semaphores_[i], semaphores_[choices_.from(0, i)]);
        }
    }

    isa::Program lay() {
        end_ = static_cast<std::size_t>(
            std::find_if(program_.instructions.begin(), program_.instructions.end(),
                         [](const auto& each) { return std::holds_alternative<isa::Halt>(each); }) -
            program_.instructions.begin());
        for (std::size_t index = 0; index < end_; ++index) order(index);
        for (std::size_t index = 0; index < end_; ++index) {
            if (choices_.chance(style_.extra_percent)) lay_extra(index);
        }
        isa::Program result = program_;
        result.instructions.clear();
        for (std::size_t index = 0; index < program_.instructions.size(); ++index) {
            const Place& place = places_[index];
            for (const auto& signal : place.signals) result.instructions.push_back(signal);
            for (const auto& wait : place.waits) result.instructions.push_back(wait);
            result.instructions.push_back(program_.instructions[index]);
        }
        return result;
    }

private:
    /// What the instruction must wait for, by what it touches.
    void order(std::size_t index) {
        const isa::Instruction& instruction = program_.instructions[index];
        if (const auto* config = std::get_if<isa::SetConfig>(&instruction)) {
            registers_.set(config->reg, config->value);
        }
        const auto unit = isa::queue_of(instruction);
        if (!unit) return;
        const auto self = static_cast<std::size_t>(*unit);
        const isa::Footprint footprint = isa::footprint(instruction, registers_, program_);
        const QueuePositions needed = history_.conflicts(footprint).any;
        for (std::size_t other = 0; other < isa::queue_count; ++other) {
            if (other == self || needed[other] <= known_[self][other]) continue;
            if (!style_.implied && implied(needed, known_[self], other)) continue;
            lay_order(other, needed[other], self, index);
        }
        for (std::size_t other = 0; other < isa::queue_count; ++other) {
            if (other != self && needed[other] > known_[self][other])
                raise(known_[self], known_at_[needed[other]]);
        }
        const auto position = static_cast<Position>(index + 1);
        known_[self][self] = position;
        known_at_[position] = known_[self];
        history_.record(footprint, *unit, position);
    }

    /// Whether waiting for a later-known instruction of another unit waits for this one too.
    bool implied(const QueuePositions& needed, const QueuePositions& known, std::size_t unit) const {
        for (std::size_t other = 0; other < isa::queue_count; ++other) {
            if (other != unit && needed[other] > known[other] &&
                known_at_[needed[other]][unit] >= needed[unit]) {
                return true;
            }
        }
        return false;
    }

    /// The instruction at `index` of unit `waiter` behind the one at `position` - 1 of unit `signaller`.
    void lay_order(std::size_t signaller, Position position, std::size_t waiter, std::size_t index) {
        std::size_t signal = position;
        if (choices_.chance(style_.late_percent)) signal = choices_.from(position, index);
        std::size_t wait = index;
        // A fetch that waits for the array lets the signal behind it wait, too: then an early wait could keep
        // the instructions that take its tiles from being issued.
        if (choices_.chance(style_.early_percent) && moves(signaller, signal)) {
            wait = choices_.from(signal, index);
        }
        // Each pair's first, second, ... wait stands behind its first, second, ... signal, and as many waits
        // of the pair stand before an instruction as there are orders it must have learnt.
        lay_pair(signaller, signal, waiter, wait, semaphore_of(signaller, waiter));
    }

    void lay_pair(std::size_t signaller, std::size_t signal, std::size_t waiter, std::size_t wait,
                  std::uint8_t semaphore) {
        places_[signal].signals.emplace_back(isa::SyncSignal{static_cast<QueueId>(signaller), semaphore});
        places_[wait].waits.emplace_back(isa::SyncWait{static_cast<QueueId>(waiter), semaphore});
    }

    /// One of the semaphores on which one unit waits for the other.
    std::uint8_t semaphore_of(std::size_t signaller, std::size_t waiter) {
        const std::size_t pair = place_of(signaller) * queues + place_of(waiter);
        return semaphores_[pair * most_a_pair + choices_.from(0, style_.semaphores_a_pair - 1)];
    }

    /// A sync that nothing needs: between any two units, or of one with itself.
    void lay_extra(std::size_t index) {
        const std::size_t last = queues - (has_writer_ ? 1 : 2);
        const auto signaller = static_cast<std::size_t>(used_queues.at(choices_.from(0, last)));
        const auto waiter = static_cast<std::size_t>(used_queues.at(choices_.from(0, last)));
        const auto wait = choices_.from(index, end_);
        if (!moves(signaller, index) || !moves(waiter, wait)) return;
        const std::size_t pair = place_of(signaller) * queues + place_of(waiter);
        lay_pair(signaller, index, waiter, wait, semaphores_[first_extra + pair]);
    }

    /// Whether the unit's queue has done everything before this place without anything behind it.
    bool moves(std::size_t unit, std::size_t index) const {
        return unit != weights_unit || weights_move_[index];
    }

    static void raise(QueuePositions& positions, const QueuePositions& to) {
        for (std::size_t unit = 0; unit < isa::queue_count; ++unit) {
            positions[unit] = std::max(positions[unit], to[unit]);
        }
    }

    static constexpr std::size_t pairs = queues * queues;
    static constexpr std::size_t most_a_pair = 3;
    static constexpr std::size_t first_extra = pairs * most_a_pair;

    const isa::Program& program_;
    const SyncStyle& style_;
    const bool has_writer_;  ///< a queue for write_weights
    std::vector<Place> places_;
    std::vector<bool> weights_move_;  ///< before the instruction of that index
    std::array<std::uint8_t, 256> semaphores_{};
    Choices choices_;
    std::size_t end_ = 0;  ///< index of halt

    isa::Registers registers_;
    isa::ProgramHistory history_;
    std::array<QueuePositions, isa::queue_count> known_{};  ///< as in compiler/emit/synchronize.cpp
    std::vector<QueuePositions> known_at_;
};

}  // namespace

isa::Program synchronized(const Case& random) {
    return Layer(random).lay();
}

}  // namespace systole::tests
