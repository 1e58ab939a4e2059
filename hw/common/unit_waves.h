#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "hw/common/bound_instructions.h"
#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/isa/program.h"
#include "hw/isa/queue.h"
#include "hw/machine/machine_config.h"

/// How a unit describes its waves: it makes its signals, and a listener that drives them from the events of
/// its core (UnitModule::waves). The writer of the waves knows no unit.
namespace systole::hw {

/// A number that changes in even steps: (first + step * k) / divisor in the k-th group of `every` cycles.
struct Ramp {
    Cycle begin = 0;
    Cycle end = 0;
    std::uint64_t first = 0;
    std::uint64_t step = 0;
    Cycle every = 1;
    std::uint64_t divisor = 1;

    std::uint64_t at(Cycle cycle) const { return (first + step * ((cycle - begin) / every)) / divisor; }
};

/// A signal that is driven for part of the time, by ramps that do not overlap.
class DrivenWave {
public:
    /// Adds a ramp, which must begin after all earlier ones. A ramp of no cycles is ignored. Throws
    /// std::logic_error if two ramps overlap.
    virtual void drive(const Ramp& ramp) = 0;
    /// Drives one value in the cycles [begin, end).
    void hold(Cycle begin, Cycle end, std::uint64_t value = 1) {
        drive({.begin = begin, .end = end, .first = value});
    }

protected:
    ~DrivenWave() = default;
};

/// A count that starts at 0, rises with each `come` and falls with each `go`.
class LevelWave {
public:
    /// Calls may come in any order. The count must never be negative.
    virtual void come(Cycle cycle) = 0;
    virtual void go(Cycle cycle) = 0;

protected:
    ~LevelWave() = default;
};

/// A bit, and a number that is driven while the bit is 1.
struct NumberedWave {
    DrivenWave& flag;
    DrivenWave& number;

    void hold(Cycle begin, Cycle end, std::uint64_t value) const {
        flag.hold(begin, end);
        number.hold(begin, end, value);
    }
};

/// Makes the signals of a core. Names begin with a scope, which is the unit or memory that has the signal:
/// "matrix_unit.active". The file has the scopes in the order in which they are first named, and the signals
/// of a scope in the order in which they are made. The object and its signals outlive all events.
class WaveMaker {
public:
    /// The instructions of this queue are told to the unit's listener, which shows them. The work of other
    /// queues is shown by signals that all of them have.
    virtual void shows(isa::QueueId queue) = 0;
    /// A bit, which is 0 unless it is set to 1.
    virtual DrivenWave& flag(const std::string& name) = 0;
    /// A number up to `most`, which is driven only while it has a meaning.
    virtual DrivenWave& number(const std::string& name, std::uint64_t most) = 0;
    virtual LevelWave& level(const std::string& name, std::uint64_t most) = 0;

    virtual const isa::Program& program() const = 0;
    /// The program's instructions. A listener drops those that it has shown.
    virtual BoundInstructions& bound() = 0;

    DrivenWave& instruction(const std::string& name) {
        return number(name, last_of(program().instructions.size()));
    }
    DrivenWave& tile(const std::string& name) { return number(name, last_of(program().tiles.size())); }
    DrivenWave& layer(const std::string& name) { return number(name, std::numeric_limits<Tag>::max()); }
    /// A memory port, which is held or not, and the row at it.
    NumberedWave port(const std::string& name, std::uint64_t rows) {
        DrivenWave& held = flag(name);
        return {.flag = held, .number = number(name + "_row", rows - 1)};
    }
    NumberedWave work(const std::string& flag_name, const std::string& instruction_name) {
        DrivenWave& works = flag(flag_name);
        return {.flag = works, .number = instruction(instruction_name)};
    }
    NumberedWave moved_tile(const std::string& flag_name, const std::string& tile_name) {
        DrivenWave& moves = flag(flag_name);
        return {.flag = moves, .number = tile(tile_name)};
    }

protected:
    ~WaveMaker() = default;

private:
    static std::uint64_t last_of(std::size_t count) { return count == 0 ? 0 : count - 1; }
};

}  // namespace systole::hw
