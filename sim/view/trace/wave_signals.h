#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/unit_waves.h"

namespace systole::trace {

/// The cycles [from, to) that are shown. Events outside them are not stored.
struct WaveWindow {
    Cycle from = 0;
    Cycle to = 0;
};

/// A signal of the chip: its value in each cycle of a window.
class WaveSignal {
public:
    /// `name` includes the scopes, separated by dots; `width` is in bits.
    WaveSignal(std::string name, unsigned width, WaveWindow window)
        : window_(window), name_(std::move(name)), width_(width) {}
    virtual ~WaveSignal() = default;
    WaveSignal(const WaveSignal&) = delete;
    WaveSignal& operator=(const WaveSignal&) = delete;

    const std::string& name() const { return name_; }
    unsigned width() const { return width_; }

    /// Called after the last event and before the first `at`.
    virtual void finish() {}
    /// The value in this cycle; absent if the signal is not driven. Cycles must not decrease from call to
    /// call.
    virtual std::optional<std::uint64_t> at(Cycle cycle) = 0;
    /// Memory of the stored events, in bytes.
    virtual std::size_t bytes() const = 0;

protected:
    const WaveWindow window_;

private:
    const std::string name_;
    const unsigned width_;
};

/// A signal that is driven for part of the time, by ramps that do not overlap.
class DrivenSignal final : public WaveSignal, public hw::DrivenWave {
public:
    /// Outside ramps the signal has the value `rest`; if that is absent, it is not driven.
    DrivenSignal(std::string name, unsigned width, WaveWindow window, std::optional<std::uint64_t> rest)
        : WaveSignal(std::move(name), width, window), rest_(rest) {}

    void drive(const hw::Ramp& ramp) override;
    std::optional<std::uint64_t> at(Cycle cycle) override;
    std::size_t bytes() const override { return ramps_.capacity() * sizeof(hw::Ramp); }

private:
    const std::optional<std::uint64_t> rest_;
    std::vector<hw::Ramp> ramps_;
    std::size_t next_ = 0;  ///< the first ramp that has not ended
};

/// A count that starts at 0, rises with each `come` and falls with each `go`.
class LevelSignal final : public WaveSignal, public hw::LevelWave {
public:
    using WaveSignal::WaveSignal;

    void come(Cycle cycle) override { note(cycle, come_, first_); }
    void go(Cycle cycle) override { note(cycle, gone_, first_gone_); }
    void finish() override;
    std::optional<std::uint64_t> at(Cycle cycle) override;
    std::size_t bytes() const override { return (come_.capacity() + gone_.capacity()) * sizeof(Cycle); }

private:
    void note(Cycle cycle, std::vector<Cycle>& cycles, std::uint64_t& earlier) const;

    std::uint64_t first_ = 0;  ///< `come` calls before the window
    std::uint64_t first_gone_ = 0;
    std::vector<Cycle> come_;
    std::vector<Cycle> gone_;
    std::size_t next_come_ = 0;  ///< the first after the last cycle of `at`
    std::size_t next_gone_ = 0;
};

/// A register: it keeps its last value, and starts with 0.
class RegisterSignal final : public WaveSignal {
public:
    using WaveSignal::WaveSignal;

    /// Sets the value from this cycle on. Cycles must not decrease from call to call.
    void put(Cycle cycle, std::int32_t value);
    std::optional<std::uint64_t> at(Cycle cycle) override;
    std::size_t bytes() const override { return changes_.capacity() * sizeof(Change); }

private:
    struct Change {
        Cycle at = 0;
        std::int32_t value = 0;
    };
    std::vector<Change> changes_;
    std::size_t next_ = 0;    ///< the first change after the last cycle of `at`
    std::int32_t value_ = 0;  ///< value before that change
    std::int32_t last_ = 0;   ///< value of the last `put`
};

}  // namespace systole::trace
