#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "hw/machine/unit_description.h"

/// Layers that repeat, such as the encoder layers of a transformer and the steps of a recurrence: they are
/// found here, and text, page and CSV show them as report.json has them.
namespace systole::report {

/// Blocks of `length` elements that follow each other and are alike, the first of them at `first`.
struct Repeats {
    std::size_t first = 0;
    std::size_t length = 0;
    std::size_t count = 0;

    std::size_t end() const { return first + length * count; }
    bool operator==(const Repeats&) const = default;
};

/// So many elements that others repeat make it worth to show them as one.
inline constexpr std::size_t least_saved = 4;

/// The repeats in a sequence, of which equal elements have equal numbers, in their order; no two have an
/// element in common. Those that save most come first into question, of equal ones the shorter blocks.
/// `marks` tell which of several begins of the same blocks is best: each element of a block has the same mark
/// there, if possible. Blocks with fewer than `least_saved` elements behind the first are left alone.
std::vector<Repeats> find_repeats(std::span<const std::size_t> kinds, std::span<const std::string> marks);

/// `repeated_layers` of a report: where layers follow each other several times with the same kinds, the same
/// multiply-accumulates, the same cycles of the parts that compute, and names that are equal up to numbers.
/// Empty for a network of so few layers that a text lists all of them. Each has `name`, the index of its
/// first layer, the number of `layers` of a block, the `count` of blocks, their cycles, and the same of the
/// layers at each of the `places` of a block. `bounds` are those of the layers.
nlohmann::ordered_json repeated_layers_json(const nlohmann::ordered_json& layers,
                                            std::span<const machine::Bound> bounds);

/// The repeats of a report; none of a report that knows of none.
std::vector<Repeats> repeats_of(const nlohmann::ordered_json& report);

}  // namespace systole::report
