// Numbers are added where an image has the greatest or least element of each window.
#include <array>
#include <utility>

#include "compiler/ir/window.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/target/tensor_core/network_builder.h"

namespace systole::tensor_core {
namespace {

/// The images of an input as the result's images need them: those that axes repeat are copied.
TensorId images_of(NetworkBuilder& builder, const ir::NodeView& view, std::size_t input) {
    const TensorId all = builder.tensor_of(view.node().inputs[input]);
    const ir::Shape& from = view.input(input).shape;
    const ir::FeatureMap map = operators::last_image(from);
    const std::array image{map.height, map.width, map.channels};
    const ir::Shape to = operators::with_leading_axes(
        operators::leading_axes(view.output().shape, operators::image_extents), image);
    if (to.elements() == from.elements()) return all;
    const Tensor& tensor = builder.tensor(all);
    const TensorId made = builder.new_tensor(tensor.name, matrix_of(to), tensor.is_shared);
    builder.add_movement({all}, repeated_axes(from, to), made);
    return made;
}

}  // namespace

void add_select_and_scatter(NetworkBuilder& builder, const ir::NodeView& view) {
    const ir::Node& node = view.node();
    Step step{.kind = StepKind::SelectAndScatter};
    step.window = ir::window_of(node);
    step.image = operators::last_image(view.input(0).shape);
    step.output = operators::last_image(view.input(1).shape);
    step.inner_images = operators::leading_axes(view.output().shape, operators::image_extents).elements();
    step.reduction = node.text("select") == "greatest" ? Reduction::Maximum : Reduction::Minimum;
    step.source = images_of(builder, view, 0);
    step.scattered = images_of(builder, view, 1);
    step.result = builder.new_tensor(node.output());
    if (view.output().type == DataType::Bfloat16) step.chains.push_back(round_to_bfloat16());
    builder.set_value(node.output(), std::move(step));
}

}  // namespace systole::tensor_core
