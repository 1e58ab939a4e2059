#include "sim/run/registers.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "hw/machine/config_error.h"

namespace systole::run {

CycleRange read_cycle_range(const std::string& text) {
    if (text == "all") return {};
    const std::string_view whole = text;
    const std::size_t dash = whole.find('-');
    const auto number = [&](std::string_view digits) {
        std::uint64_t value = 0;
        const char* const end = digits.data() + digits.size();
        const auto [stopped, error] = std::from_chars(digits.data(), end, value);
        if (error != std::errc() || stopped != end) {
            throw machine::ConfigError(fmt::format(
                "registers is \"{}\"; it must be \"all\", a cycle or two with - between them, as in 10-20",
                text));
        }
        return value;
    };
    CycleRange range;
    range.first = range.last = number(whole.substr(0, dash));
    if (dash != std::string_view::npos) range.last = number(whole.substr(dash + 1));
    if (range.last < range.first) {
        throw machine::ConfigError(
            fmt::format("registers is \"{}\"; the last cycle is before the first", text));
    }
    return range;
}

void RegisterRecorder::cycle(Cycle cycle, const hw::ArrayRegisters& registers) {
    if (cycle < range_.first || cycle > range_.last) return;
    constexpr std::uint64_t bytes_of_cell = 3 * sizeof(std::int16_t) + sizeof(std::int32_t);
    bytes_ += bytes_of_cell * registers.rows * registers.columns;
    if (bytes_ > most_bytes) {
        throw machine::ConfigError(
            fmt::format("registers: those of cycles {} to {} take more than {} bytes; ask for fewer cycles",
                        range_.first, cycle, most_bytes));
    }
    dump_.rows = registers.rows;
    dump_.columns = registers.columns;
    dump_.cycles.push_back(
        {.cycle = cycle,
         .activations = {registers.activations.begin(), registers.activations.end()},
         .weights = {registers.weights.begin(), registers.weights.end()},
         .shadow_weights = {registers.shadow_weights.begin(), registers.shadow_weights.end()},
         .partial_sums = {registers.partial_sums.begin(), registers.partial_sums.end()}});
}

void RegisterRecorder::check(Cycle cycles) const {
    // Registers may still move in the cycle in which the program ends, or behind it.
    if (range_.first <= cycles || !dump_.cycles.empty()) return;
    throw machine::ConfigError(fmt::format(
        "registers: cycle {} is behind the end; the program ends in cycle {}", range_.first, cycles));
}

}  // namespace systole::run
