#include "compiler/frontend/onnx/input_shape.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/message_text.h"
#include "compiler/frontend/input_shapes.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::onnx_file {
namespace {

std::uint32_t extent_of(const ::onnx::TensorShapeProto::Dimension& dimension, int axis,
                        std::optional<std::uint32_t> given) {
    if (has_no_size(dimension) && given) return *given;
    if (has_no_size(dimension) && axis == 0) return 1;
    if (has_no_size(dimension)) {
        std::string open = "nameless, without a size";
        if (dimension.has_dim_value()) {
            open = fmt::format("{}, which is no size", dimension.dim_value());
        } else if (!dimension.dim_param().empty()) {
            open = fmt::format("{}, without a size", in_quotes(dimension.dim_param()));
        }
        throw ModelError(
            fmt::format("its dimension {} is {}; the input's shape {}", axis, open, must_be_given));
    }
    if (dimension.dim_value() > std::numeric_limits<std::uint32_t>::max()) {
        throw ModelError(
            fmt::format("its dimension {} is {}; it must be less than 2^32", axis, dimension.dim_value()));
    }
    const auto extent = static_cast<std::uint32_t>(dimension.dim_value());
    if (given && *given != extent) {
        throw ModelError(
            fmt::format("its dimension {} is given as {}; in the file it is {}", axis, *given, extent));
    }
    return extent;
}

/// Each nullopt if it has no size. Sizes that no shape can have are the caller's to refuse.
std::vector<std::optional<std::uint32_t>> extents_in(const ::onnx::TypeProto::Tensor& type) {
    std::vector<std::optional<std::uint32_t>> extents;
    for (const auto& dimension : type.shape().dim()) {
        extents.push_back(has_no_size(dimension)
                              ? std::nullopt
                              : std::optional(static_cast<std::uint32_t>(dimension.dim_value())));
    }
    return extents;
}

}  // namespace

bool has_no_size(const ::onnx::TensorShapeProto::Dimension& dimension) {
    return !dimension.has_dim_value() || dimension.dim_value() <= 0;
}

ir::Shape shape_of_input(const ::onnx::TypeProto::Tensor& type, const InputShapes& shapes,
                         std::string_view input) {
    if (!type.has_shape()) {
        if (const ir::Shape* const given = shape_for(shapes.given, input)) return *given;
        if (const ir::Shape* const data = shape_for(shapes.of_data, input)) return *data;
        throw ModelError(fmt::format("its shape is not known; it {}", must_be_given));
    }
    const auto rank = static_cast<std::size_t>(type.shape().dim_size());
    if (rank > ir::Shape::most_extents) {
        throw ModelError(
            fmt::format("it has {} dimensions; it may have at most {}", rank, ir::Shape::most_extents));
    }
    const std::optional<ir::Shape> known = known_shape(shapes, input, extents_in(type));
    if (known && known->rank() != rank) {
        throw ModelError(fmt::format("its shape is given as {}; in the file it has {}", to_text(*known),
                                     counted(rank, "dimension")));
    }
    // Places of tokens, such as cache_position, and no batch.
    const bool is_list = rank == 1 && !type.shape().dim(0).dim_param().empty();
    std::vector<std::uint32_t> extents;
    for (int axis = 0; axis < type.shape().dim_size(); ++axis) {
        const auto& dimension = type.shape().dim(axis);
        std::optional<std::uint32_t> wanted;
        if (known) {
            wanted = (*known)[static_cast<std::size_t>(axis)];
        } else if (shapes.step && (axis > 0 || is_list) && has_no_size(dimension)) {
            wanted = size_in(*shapes.step, {.input = input, .rank = rank, .name = dimension.dim_param()});
        }
        extents.push_back(extent_of(dimension, axis, wanted));
    }
    return ir::Shape(extents);
}

}  // namespace systole::frontend::onnx_file
