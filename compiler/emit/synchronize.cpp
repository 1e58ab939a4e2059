#include "compiler/emit/synchronize.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>

#include "hw/isa/access_history.h"
#include "hw/isa/footprint.h"
#include "hw/isa/registers.h"

namespace systole::emit {
namespace {

using isa::Footprint;
using isa::Position;
using isa::QueueId;
using isa::QueuePositions;
using QueueSet = std::bitset<isa::queue_count>;

constexpr auto queues = [] {
    std::array<QueueId, isa::queue_count> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<QueueId>(i);
    return all;
}();

/// The sync instructions around an instruction.
struct Frame {
    QueueSet wait_for;  ///< units to wait for before it
    QueueSet signal;    ///< units to signal after it
};

/// Determines, instruction by instruction, which units have to wait for which.
class OrderFinder {
public:
    OrderFinder(std::size_t instructions, const isa::Program& program, machine::LayerOrder order,
                bool one_by_one)
        : program_(program),
          order_(order),
          one_by_one_(one_by_one),
          frames_(instructions + 1),
          clocks_at_(instructions + 1) {}

    void add(const isa::Instruction& instruction, Position position) {
        if (const auto* config = std::get_if<isa::SetConfig>(&instruction)) {
            registers_.set(config->reg, config->value);
        }
        if (const auto* tag = std::get_if<isa::DebugTag>(&instruction)) begin_layer(tag->tag);
        const std::optional<QueueId> unit = isa::queue_of(instruction);
        if (!unit) return;
        const Footprint footprint = isa::footprint(instruction, registers_, program_);
        const auto self = static_cast<std::size_t>(*unit);
        QueuePositions needed = history_.latest(footprint);
        if (waits_for_layer_[self]) {
            constexpr auto activation = static_cast<std::size_t>(QueueId::Activation);
            needed[activation] = std::max(needed[activation], clocks_[activation][activation]);
            waits_for_layer_.reset(self);
        }
        if (one_by_one_ && last_ > 0) {
            Position& of_last = needed[static_cast<std::size_t>(last_unit_)];
            of_last = std::max(of_last, last_);
        }
        last_ = position;
        last_unit_ = *unit;
        order_behind(needed, self, position);
        clocks_[self][self] = position;
        clocks_at_[position] = clocks_[self];
        history_.record(footprint, *unit, position);
    }

    const Frame& frame(Position position) const { return frames_[position]; }

private:
    void begin_layer(std::uint16_t tag) {
        if (tag == 0 || tag == layer_) return;
        layer_ = tag;
        if (order_ == machine::LayerOrder::Rows) return;
        waits_for_layer_.set(static_cast<std::size_t>(QueueId::Matrix));
        if (order_ == machine::LayerOrder::LayerAndWeights) {
            waits_for_layer_.set(static_cast<std::size_t>(QueueId::Weights));
        }
    }

    /// Makes the instruction wait for those of `needed` that are not yet ordered before it: few, of most
    /// instructions none.
    void order_behind(const QueuePositions& needed, std::size_t self, Position position) {
        std::array<std::size_t, isa::queue_count> places{};
        std::size_t count = 0;
        for (std::size_t unit = 0; unit < isa::queue_count; ++unit) {
            if (unit != self && needed[unit] > clocks_[self][unit]) places[count++] = unit;
        }
        const std::span<const std::size_t> missing = std::span(places).first(count);
        for (const std::size_t unit : missing) {
            if (implied_by_another(needed, missing, unit)) continue;
            frames_[position].wait_for.set(unit);
            frames_[needed[unit]].signal.set(self);
        }
        for (const std::size_t unit : missing) raise(clocks_[self], clocks_at_[needed[unit]]);
    }

    /// Whether a wait for another missing unit's instruction implies the wait for this one.
    bool implied_by_another(const QueuePositions& needed, std::span<const std::size_t> missing,
                            std::size_t unit) const {
        return std::ranges::any_of(missing, [&](std::size_t other) {
            return other != unit && clocks_at_[needed[other]][unit] >= needed[unit];
        });
    }

    static void raise(QueuePositions& positions, const QueuePositions& to) {
        for (std::size_t unit = 0; unit < isa::queue_count; ++unit) {
            positions[unit] = std::max(positions[unit], to[unit]);
        }
    }

    const isa::Program& program_;
    machine::LayerOrder order_;
    bool one_by_one_;
    Position last_ = 0;  ///< of the instruction before, of any unit
    QueueId last_unit_ = QueueId{};
    std::uint16_t layer_ = 0;   ///< tag of the layer whose instructions are added
    QueueSet waits_for_layer_;  ///< units whose next instruction comes after the layers before
    isa::Registers registers_;
    isa::ProgramHistory history_;
    std::vector<Frame> frames_;  ///< by position
    /// A vector clock for each unit: the latest instruction of each other unit that its next instruction
    /// comes after, directly or through the waits of other units.
    std::array<QueuePositions, isa::queue_count> clocks_{};
    /// By position: the unit's vector clock after the instruction, which is included. Position 0 is unused.
    std::vector<QueuePositions> clocks_at_;
};

}  // namespace

std::vector<isa::Instruction> synchronize(const std::vector<isa::Instruction>& instructions,
                                          const isa::Program& program, machine::LayerOrder order,
                                          bool one_by_one) {
    if (instructions.size() >= std::numeric_limits<Position>::max()) {
        throw std::logic_error("too many instructions to put in order");
    }
    OrderFinder finder(instructions.size(), program, order, one_by_one);
    Position position = 0;
    for (const isa::Instruction& instruction : instructions) {
        if (std::holds_alternative<isa::SyncWait>(instruction) ||
            std::holds_alternative<isa::SyncSignal>(instruction)) {
            throw std::logic_error("the instructions to put in order contain sync already");
        }
        finder.add(instruction, ++position);
    }

    std::vector<isa::Instruction> result;
    result.reserve(instructions.size() + instructions.size() / 2);
    position = 0;
    for (const isa::Instruction& instruction : instructions) {
        const Frame& frame = finder.frame(++position);
        const std::optional<QueueId> self = isa::queue_of(instruction);
        for (const QueueId other : queues) {
            if (!frame.wait_for[static_cast<std::size_t>(other)]) continue;
            result.emplace_back(isa::SyncWait{.unit = *self, .semaphore = semaphore_of(other, *self)});
        }
        result.push_back(instruction);
        for (const QueueId other : queues) {
            if (!frame.signal[static_cast<std::size_t>(other)]) continue;
            result.emplace_back(isa::SyncSignal{.unit = *self, .semaphore = semaphore_of(*self, other)});
        }
    }
    return result;
}

}  // namespace systole::emit
