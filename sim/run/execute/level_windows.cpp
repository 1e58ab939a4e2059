#include "sim/run/execute/level_windows.h"

#include <algorithm>
#include <utility>

#include "base/arithmetic.h"
#include "sim/run/record/record.h"

namespace systole::run {

void LevelWindows::change(Cycle at, std::int64_t amount) {
    hold_until(at);
    held_ += static_cast<std::uint64_t>(amount);  // a negative amount subtracts, modulo 2^64
}

Levels LevelWindows::until(Cycle cycles) && {
    hold_until(cycles);
    most_.windows.resize(divide_up(cycles, most_.window_cycles));
    return std::move(most_);
}

void LevelWindows::hold_until(Cycle end) {
    if (end <= since_) return;
    while ((end - 1) / most_.window_cycles >= most_windows) merge_pairs();
    const std::size_t last = (end - 1) / most_.window_cycles;
    if (last >= most_.windows.size()) most_.windows.resize(last + 1);
    for (std::size_t window = since_ / most_.window_cycles; window <= last; ++window) {
        most_.windows[window] = std::max(most_.windows[window], held_);
    }
    since_ = end;
}

void LevelWindows::merge_pairs() {
    std::vector<std::uint64_t>& windows = most_.windows;
    windows.resize(windows.size() + windows.size() % 2);
    for (std::size_t pair = 0; pair < windows.size() / 2; ++pair) {
        windows[pair] = std::max(windows[2 * pair], windows[2 * pair + 1]);
    }
    windows.resize(windows.size() / 2);
    most_.window_cycles *= 2;
}

}  // namespace systole::run
