#include "compiler/emit/synchronize.h"

#include <algorithm>
#include <bitset>
#include <limits>
#include <stdexcept>

#include "hw/isa/access_history.h"
#include "hw/isa/footprint.h"
#include "hw/isa/registers.h"

namespace systole::emit {
namespace {

using isa::Footprint;
using isa::Position;
using isa::Unit;
using isa::UnitPositions;
using UnitSet = std::bitset<isa::unit_count>;

constexpr std::array<Unit, isa::unit_count> units = {Unit::HostRead, Unit::HostWrite, Unit::Weights,
                                                     Unit::Matrix, Unit::Activation};

/// The sync an instruction is framed by.
struct Frame {
    UnitSet wait_for;  ///< units, before it
    UnitSet signal;    ///< units, behind it
};

/// Finds out, instruction by instruction, what has to wait for what.
class OrderFinder {
public:
    OrderFinder(std::size_t instructions, const isa::Geometry& geometry)
        : geometry_(geometry), frames_(instructions + 1), known_at_(instructions + 1) {}

    void add(const isa::Instruction& instruction, Position position) {
        if (const auto* config = std::get_if<isa::SetConfig>(&instruction)) {
            registers_.set(config->reg, config->value);
        }
        const std::optional<Unit> unit = isa::unit_of(instruction);
        if (!unit) return;
        const Footprint footprint = isa::footprint(instruction, registers_, geometry_);
        const auto self = static_cast<std::size_t>(*unit);
        order_behind(history_.conflicts(footprint), self, position);
        known_[self][self] = position;
        known_at_[position] = known_[self];
        history_.record(footprint, *unit, position);
    }

    const Frame& frame(Position position) const { return frames_[position]; }

private:
    /// Makes the instruction wait for those of `needed` that it does not come after anyhow.
    void order_behind(const UnitPositions& needed, std::size_t self, Position position) {
        UnitPositions missing{};
        for (std::size_t unit = 0; unit < isa::unit_count; ++unit) {
            if (unit != self && needed[unit] > known_[self][unit]) missing[unit] = needed[unit];
        }
        for (std::size_t unit = 0; unit < isa::unit_count; ++unit) {
            if (missing[unit] == 0 || implied_by_another(missing, unit)) continue;
            frames_[position].wait_for.set(unit);
            frames_[missing[unit]].signal.set(self);
        }
        for (const Position behind : missing) raise(known_[self], known_at_[behind]);
    }

    /// Whether waiting for another unit's instruction also waits for this one.
    bool implied_by_another(const UnitPositions& missing, std::size_t unit) const {
        for (std::size_t other = 0; other < isa::unit_count; ++other) {
            if (other != unit && known_at_[missing[other]][unit] >= missing[unit]) return true;
        }
        return false;
    }

    static void raise(UnitPositions& positions, const UnitPositions& to) {
        for (std::size_t unit = 0; unit < isa::unit_count; ++unit) {
            positions[unit] = std::max(positions[unit], to[unit]);
        }
    }

    const isa::Geometry& geometry_;
    isa::Registers registers_;
    isa::ProgramHistory history_;
    std::vector<Frame> frames_;  ///< by position
    /// By unit: the latest instruction of each unit that all its later ones come after, directly or
    /// through what other units have waited for (a vector clock).
    std::array<UnitPositions, isa::unit_count> known_{};
    /// By position: what was known then, the instruction itself included. Nothing at position 0.
    std::vector<UnitPositions> known_at_;
};

}  // namespace

std::vector<isa::Instruction> synchronize(const std::vector<isa::Instruction>& instructions,
                                          const isa::Geometry& geometry) {
    if (instructions.size() >= std::numeric_limits<Position>::max()) {
        throw std::logic_error("too many instructions to put in order");
    }
    OrderFinder finder(instructions.size(), geometry);
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
        const std::optional<Unit> self = isa::unit_of(instruction);
        for (const Unit other : units) {
            if (!frame.wait_for[static_cast<std::size_t>(other)]) continue;
            result.emplace_back(isa::SyncWait{.unit = *self, .semaphore = semaphore_of(other, *self)});
        }
        result.push_back(instruction);
        for (const Unit other : units) {
            if (!frame.signal[static_cast<std::size_t>(other)]) continue;
            result.emplace_back(isa::SyncSignal{.unit = *self, .semaphore = semaphore_of(*self, other)});
        }
    }
    return result;
}

}  // namespace systole::emit
