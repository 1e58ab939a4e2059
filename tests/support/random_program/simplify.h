#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hw/isa/memory.h"
#include "tests/support/random_program/random_case.h"

// The single steps of `shrink`: each gives a case that is simpler in one thing, or nothing where it is as
// simple already. Whether the case still makes sense, its judge says.
namespace systole::tests {

/// Without instructions [first, first + count); `halt` stays.
std::optional<Case> without(const Case& from, std::size_t first, std::size_t count);

/// The same, and what is left takes the tiles it took before: each is fetched directly before its use.
std::optional<Case> with_weights_at_use(const Case& from, std::size_t first, std::size_t count);

/// A step of a number downwards; flags are cleared and choices set to the first.
enum class FieldStep : std::uint8_t { Least, Half, OneLess };
std::size_t field_count(const Case& from, std::size_t instruction);
std::optional<Case> with_simpler_field(const Case& from, std::size_t instruction, std::size_t field,
                                       FieldStep step);

/// Without the last weight tile.
std::optional<Case> without_last_tile(const Case& from);
/// Weights of 1, all of them useful.
std::optional<Case> with_plain_tile(const Case& from, std::size_t tile);
/// With blocks of one pixel.
std::optional<Case> without_blocks(const Case& from);
/// Without the initial rows of the unified buffer or, otherwise, of the accumulators.
std::optional<Case> without_initial_rows(const Case& from, isa::MemoryId memory);
/// Contents of 1.
std::optional<Case> with_plain_buffer(const Case& from, std::size_t buffer);

/// Array rows, or columns, divided by two or fewer by one (`part` 2 or 1); what tiles have beyond is cut off.
std::optional<Case> with_smaller_array(const Case& from, bool rows, unsigned part);

/// The machine's parameters, as JSON pointers.
std::vector<std::string> machine_keys(const Case& from);
struct SimpleValue {
    bool exists = false;          ///< there is a simple value of that number before the one in force
    std::optional<Case> changed;  ///< nothing where the machine cannot be built
};
/// Simple values of a parameter are, from the simplest on: the default, 0, 1, half of what it is.
SimpleValue with_simple_value(const Case& from, const std::string& key, std::size_t number);

}  // namespace systole::tests
