#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

/// The elements of which each element of a resized axis is made.
namespace systole::operators {

/// An element of the input and its part of an element of the result.
struct Tap {
    std::size_t source = 0;
    float weight = 1.0F;
};

/// The rules of one axis.
struct AxisResize {
    std::size_t input = 1;  ///< extents
    std::size_t output = 1;
    float scale = 0.0F;     ///< output by input as the file gives it; 0: by the extents
    bool is_exact = false;  ///< whether places in the input are exact; else they are computed in float32
    std::string coordinates;
    std::string nearest;
    float cubic = 0.0F;
    bool exclude_outside = false;
};

/// The values of the attributes `coordinates` and `nearest`. Only ONNX's Upsample, and its Resize of operator
/// set 10, have the last one: along an axis that becomes shorter, they take the element behind.
const std::vector<std::string>& coordinate_modes();
const std::vector<std::string>& nearest_modes();

/// The limits of a scale by which exact places can be computed.
inline constexpr double least_exact_scale = 0x1p-32;
inline constexpr double most_exact_scale = 0x1p32;

/// The taps of each element of the result.
std::vector<std::vector<Tap>> nearest_taps(const AxisResize& axis);
std::vector<std::vector<Tap>> linear_taps(const AxisResize& axis);
std::vector<std::vector<Tap>> cubic_taps(const AxisResize& axis);

}  // namespace systole::operators
