#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/common/clock.h"

namespace systole::trace {

/// The cycles [from, to) that are shown. What happened in others is not kept.
struct WaveWindow {
    Cycle from = 0;
    Cycle to = 0;
};

/// A wire of the chip: what is on it in each cycle of a window.
class WaveSignal {
public:
    /// `name` has the scopes it lies in, with dots between them; `width` is in bits.
    WaveSignal(std::string name, unsigned width, WaveWindow window)
        : window_(window), name_(std::move(name)), width_(width) {}
    virtual ~WaveSignal() = default;
    WaveSignal(const WaveSignal&) = delete;
    WaveSignal& operator=(const WaveSignal&) = delete;

    const std::string& name() const { return name_; }
    unsigned width() const { return width_; }

    /// Everything is noted: the cycles can be asked for.
    virtual void finish() {}
    /// What is on the wire in this cycle; nothing: nobody drives it. Never asked for an earlier cycle than
    /// before.
    virtual std::optional<std::uint64_t> at(Cycle cycle) = 0;
    /// Bytes that its notes take.
    virtual std::size_t bytes() const = 0;

protected:
    const WaveWindow window_;

private:
    const std::string name_;
    const unsigned width_;
};

/// A number that goes up or down in even steps: (first + step * k) / divisor in the k-th `every` cycles.
struct Ramp {
    Cycle begin = 0;
    Cycle end = 0;
    std::uint64_t first = 0;
    std::uint64_t step = 0;
    Cycle every = 1;
    std::uint64_t divisor = 1;

    std::uint64_t at(Cycle cycle) const { return (first + step * ((cycle - begin) / every)) / divisor; }
};

/// A wire that is driven some of the time: a ramp after the other, none over another.
class DrivenSignal final : public WaveSignal {
public:
    /// Where no ramp is, the wire has the value `rest`, or nobody drives it.
    DrivenSignal(std::string name, unsigned width, WaveWindow window, std::optional<std::uint64_t> rest)
        : WaveSignal(std::move(name), width, window), rest_(rest) {}

    /// Behind all ramps before it. None if it takes no cycle.
    void drive(const Ramp& ramp);
    /// The same value in the cycles [begin, end).
    void hold(Cycle begin, Cycle end, std::uint64_t value = 1) {
        drive({.begin = begin, .end = end, .first = value});
    }
    std::optional<std::uint64_t> at(Cycle cycle) override;
    std::size_t bytes() const override { return ramps_.capacity() * sizeof(Ramp); }

private:
    const std::optional<std::uint64_t> rest_;
    std::vector<Ramp> ramps_;
    std::size_t next_ = 0;  ///< the first ramp that may not be over
};

/// How many of something there are: some come, some go, 0 at first.
class LevelSignal final : public WaveSignal {
public:
    using WaveSignal::WaveSignal;

    /// In any order; what goes has come.
    void come(Cycle cycle) { note(cycle, come_, first_); }
    void go(Cycle cycle) { note(cycle, gone_, first_gone_); }
    void finish() override;
    std::optional<std::uint64_t> at(Cycle cycle) override;
    std::size_t bytes() const override { return (come_.capacity() + gone_.capacity()) * sizeof(Cycle); }

private:
    void note(Cycle cycle, std::vector<Cycle>& cycles, std::uint64_t& earlier) const;

    std::uint64_t first_ = 0;  ///< came before the window
    std::uint64_t first_gone_ = 0;
    std::vector<Cycle> come_;
    std::vector<Cycle> gone_;
    std::size_t next_come_ = 0;  ///< the first that has not come by the cycle last asked for
    std::size_t next_gone_ = 0;
};

/// A register: it keeps what was put in last, 0 at first.
class RegisterSignal final : public WaveSignal {
public:
    using WaveSignal::WaveSignal;

    /// In the order of the cycles.
    void put(Cycle cycle, std::int32_t value);
    std::optional<std::uint64_t> at(Cycle cycle) override;
    std::size_t bytes() const override { return changes_.capacity() * sizeof(Change); }

private:
    struct Change {
        Cycle at = 0;
        std::int32_t value = 0;
    };
    std::vector<Change> changes_;
    std::size_t next_ = 0;    ///< the first change that has not come
    std::int32_t value_ = 0;  ///< until then
    std::int32_t last_ = 0;   ///< put in
};

}  // namespace systole::trace
