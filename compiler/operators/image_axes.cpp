#include "compiler/operators/image_axes.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/model_error.h"

namespace systole::operators {

ir::AttributeDeclaration image_axes_attribute() {
    return {.name = "axes",
            .meaning = "the axes of height, width and channels",
            .absent = std::vector<std::int64_t>{1, 2, 3},
            .minimum = 1,
            .maximum = 3,
            .size = 3};
}

ImageAxes image_axes_of(const ir::NodeView& node) {
    constexpr std::size_t image_rank = 4;
    const ir::Shape& shape = node.input().shape;
    if (shape.rank() != image_rank) {
        throw ModelError(fmt::format("its input is {}; it must have 4 axes", to_text(shape)));
    }
    const std::vector<std::int64_t>& axes = node.node().integers("axes");
    std::vector<std::int64_t> sorted = axes;
    std::ranges::sort(sorted);
    if (sorted != std::vector<std::int64_t>{1, 2, 3}) {
        throw ModelError(fmt::format("its axes are {}; they must be 1, 2 and 3 in any order",
                                     ir::to_text(ir::Attribute(axes))));
    }
    return {.height = static_cast<std::size_t>(axes[0]),
            .width = static_cast<std::size_t>(axes[1]),
            .channels = static_cast<std::size_t>(axes[2])};
}

std::vector<std::int64_t> onnx_image_axes() {
    return {2, 3, 1};
}

}  // namespace systole::operators
