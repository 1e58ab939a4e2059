#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/fixed_point.h"
#include "base/rounding.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/window.h"

/// Checks of integer types that operators share.
namespace systole::operators {

/// A rounded number as an integer. Numbers far outside of 32 bits, which scales at the ends of float32 give,
/// become one that is outside of every stored type; 0 times infinity becomes 0.
inline std::int64_t saturated(float rounded) {
    constexpr float limit = 1e9F;
    return std::isnan(rounded) ? 0 : static_cast<std::int64_t>(std::clamp(rounded, -limit, limit));
}

/// Whether a node works on integers: whether any of its values is not float32.
bool works_on_integers(const ir::NodeView& node);

/// Throws ModelError unless data inputs and result have these types, one scale each, and zero point 0 if
/// int16.
void require_integers(const ir::NodeView& node, std::span<const DataType> types);
/// The same for all types in which the chip stores activations: uint8, int8, int16.
void require_integers(const ir::NodeView& node);
/// Throws ModelError unless the data inputs and the result have the same type.
void require_one_type(const ir::NodeView& node);
/// The same for type, scale and zero point.
void require_one_encoding(const ir::NodeView& node);

/// Whether two values have one type, scale and zero point. Real numbers that were integers have the scale of
/// these, which is no part of what they are.
bool is_stored_alike(const ir::Value& a, const ir::Value& b);
/// Throws ModelError: two values of a node must be stored alike, and are not. `whose`: "its input and its
/// result".
[[noreturn]] void fail_as_stored_unlike(std::string_view whose, const ir::Value& a, const ir::Value& b);

/// The attribute `clamp`: the stored numbers to which a result is limited, for a ReLU that is part of the
/// node.
ir::AttributeDeclaration clamp_attribute();
/// Throws ModelError unless `clamp` is empty or two ascending numbers of the result's type.
void check_clamp(const ir::NodeView& node);
/// The limits of `clamp`, or the whole range of the result's type if it is empty.
struct Clamp {
    std::int32_t minimum = 0;
    std::int32_t maximum = 0;
};
Clamp clamp_of(const ir::NodeView& node);

/// a * b / c as TFLite computes it where it multiplies scales in float32: in float32 if all of them are such
/// numbers, as those of files are, else in float64.
double scale_quotient(double a, double b, double c);

/// The fixed-point number nearest to a quotient of scales. Throws ModelError if it is out of range.
FixedPoint fixed_point_of(double scale);

/// The attribute `rounding`, by the names of `Rounding`. TFLite's multiplier has 31 bits, and the shift to
/// the right after it rounds a second time. With half_to_even, the product is rounded once after both, halves
/// to the even number, as in ONNX. With float_half_even, the multiplier and the product are float32, as in
/// the Edge TPU, and there is no second rounding: `multiply_by_float_to_even`. Which multiplier a node has
/// then, and how sums of two tensors are computed, is not published, and ours.
ir::AttributeDeclaration rounding_attribute();
ir::Attribute rounding_value(Rounding rounding);
/// Of a node that has the attribute.
Rounding rounding_of(const ir::Node& node);
/// Throws ModelError if a node on integers, which has the attribute, is not of 8 bits and rounds in float32.
void check_rounding(const ir::NodeView& node);

/// A quotient of scales as the multiplier of float_half_even. Throws ModelError if it is out of the range of
/// `fixed_point_of`.
float float_multiplier_of(double scale);

/// Calls visit(y, x, first element of the output) for each pixel of an image.
template <typename Visit>
void for_each_pixel(const ir::FeatureMap& output, const Visit& visit) {
    std::size_t element = 0;
    for (std::uint32_t y = 0; y < output.height; ++y) {
        for (std::uint32_t x = 0; x < output.width; ++x) {
            visit(y, x, element);
            element += output.channels;
        }
    }
}

/// Calls visit(pixel of the input, element of the kernel) for each pixel of the image under one window.
template <typename Visit>
void for_each_in_window(const ir::FeatureMap& input, const ir::Window& window, std::uint32_t output_y,
                        std::uint32_t output_x, const Visit& visit) {
    const ir::WindowSpan rows = vertical_span(input, window, output_y);
    const ir::WindowSpan columns = horizontal_span(input, window, output_x);
    for (std::uint32_t row = rows.first; row < rows.last; ++row) {
        for (std::uint32_t column = columns.first; column < columns.last; ++column) {
            visit(rows.under(row) * input.width + columns.under(column),
                  std::size_t{row} * window.kernel_width + column);
        }
    }
}

}  // namespace systole::operators
