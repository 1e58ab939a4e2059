#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/frontend/hlo/module.h"

/// Lists of axes, as the attributes of instructions have them.
namespace systole::hlo {

using Axes = std::span<const std::int64_t>;

/// Throws ModelError if axes are out of range or named twice. `what` names them in messages.
void check_axes(std::string_view what, Axes axes, std::size_t rank);

/// The axis of an instruction that names one. Throws ModelError for none or several.
std::int64_t only_axis(Axes axes);

bool contains(Axes axes, std::size_t axis);

Numbers concatenated(Axes first, Axes second);

/// The size of one axis, and those of several. The axes have been checked.
std::int64_t extent_of(const Shape& array, std::int64_t axis);
Numbers extents_of(const Shape& array, Axes axes);

/// The axes of an array of this rank that are not named, and their sizes.
Numbers other_axes(std::size_t rank, Axes axes);
Numbers other_extents(Axes dimensions, Axes axes);

}  // namespace systole::hlo
