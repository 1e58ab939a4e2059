#include "compiler/operators/tap_phases.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace systole::operators {
namespace {

/// x with `factor` x = 1 modulo `modulus`, which have no common divisor.
std::int64_t inverse(std::int64_t factor, std::int64_t modulus) {
    // Each of the two rests is its coefficient times `factor`, modulo `modulus`.
    std::int64_t rest = modulus;
    std::int64_t next = factor % modulus;
    std::int64_t coefficient = 0;
    std::int64_t next_coefficient = 1;
    while (next != 0) {
        const std::int64_t quotient = rest / next;
        rest = std::exchange(next, rest - quotient * next);
        coefficient = std::exchange(next_coefficient, coefficient - quotient * next_coefficient);
    }
    return (coefficient % modulus + modulus) % modulus;
}

/// Counts i below `count` with `step` i = `rest` modulo `modulus`.
class Multiples {
public:
    Multiples(std::int64_t step, std::int64_t count, std::int64_t modulus)
        : count_(count),
          divisor_(std::gcd(step, modulus)),
          period_(modulus / divisor_),
          inverse_(inverse(step / divisor_, period_)) {}

    std::uint64_t with_rest(std::int64_t rest) const {
        if (rest % divisor_ != 0) return 0;
        const std::int64_t reduced = (rest / divisor_ % period_ + period_) % period_;
        // Both are below 2^32.
        const auto first = static_cast<std::int64_t>(static_cast<std::uint64_t>(reduced) *
                                                     static_cast<std::uint64_t>(inverse_) %
                                                     static_cast<std::uint64_t>(period_));
        return first < count_ ? static_cast<std::uint64_t>((count_ - 1 - first) / period_ + 1) : 0;
    }

private:
    std::int64_t count_;
    std::int64_t divisor_;
    std::int64_t period_;
    std::int64_t inverse_;
};

}  // namespace

std::vector<TapPhase> phases_of(const SpreadWindows& windows) {
    const std::int64_t spread = windows.spread;
    // By what lies between the first tap and the pixel before it.
    std::map<std::int64_t, std::vector<std::uint32_t>> outputs;
    for (std::uint32_t output = 0; output < windows.outputs; ++output) {
        const std::int64_t rest = windows.place_of(output, 0) % spread;
        outputs[rest < 0 ? rest + spread : rest].push_back(output);
    }
    // By what lies between the first tap and a pixel before it if the tap falls on a pixel.
    std::map<std::int64_t, std::vector<std::uint32_t>> taps;
    for (std::uint32_t tap = 0; tap < windows.kernel; ++tap) {
        const std::int64_t rest = std::int64_t{tap} * windows.dilation % spread;
        taps[rest == 0 ? 0 : spread - rest].push_back(tap);
    }
    std::vector<TapPhase> phases;
    phases.reserve(outputs.size());
    for (auto& [rest, list] : outputs) phases.push_back({.taps = taps[rest], .outputs = std::move(list)});
    return phases;
}

std::uint64_t phase_count(const SpreadWindows& windows) {
    return std::min(windows.outputs, windows.spread / std::gcd(windows.stride, windows.spread));
}

std::uint64_t met_taps(const SpreadWindows& windows) {
    const auto count = [&](std::int64_t step, std::int64_t few, std::int64_t other_step, std::int64_t many) {
        const Multiples others(other_step, many, windows.spread);
        std::uint64_t met = 0;
        for (std::int64_t i = 0; i < few; ++i)
            met += others.with_rest((std::int64_t{windows.pad} - i * step) % windows.spread);
        return met;
    };
    return windows.kernel <= windows.outputs
               ? count(windows.dilation, windows.kernel, windows.stride, windows.outputs)
               : count(windows.stride, windows.outputs, windows.dilation, windows.kernel);
}

}  // namespace systole::operators
