// Numbers are added where an image has the greatest or least element of each window.
#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/ir/window.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/target/tensor_core/network_builder.h"

namespace systole::tensor_core {
namespace {

/// The images of an input as the result's images need them: those that axes repeat are copied.
TensorId images_of(NetworkBuilder& builder, const ir::NodeView& view, std::size_t input) {
    const TensorId all = builder.tensor_of(view.node().inputs[input]);
    const std::vector<std::size_t> images = operators::leading_blocks(view, input, operators::image_extents);
    const ir::FeatureMap map = operators::last_image(view.input(input).shape);
    const std::uint64_t pixels = std::uint64_t{map.height} * map.width;
    if (images.size() * pixels == builder.tensor(all).rows) return all;
    MovedRows moved{.rows = counted_rows(images.size() * pixels), .columns = {}};
    moved.columns.push_back({.to = 0, .count = map.channels, .source = 0, .from = 0});
    for (const std::size_t image : images) {
        for (std::uint64_t pixel = 0; pixel < pixels; ++pixel)
            moved.columns[0].rows.push_back(image * pixels + pixel);
    }
    const TensorId made = builder.new_tensor(builder.tensor(all).name, {moved.rows.size(), map.channels},
                                             builder.tensor(all).is_shared);
    builder.add_move({all}, std::vector{std::move(moved)}, made);
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
