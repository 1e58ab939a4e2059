// Pooling, and borders, which are pooling: vector work on bytes.
#include <fmt/format.h>

#include "compiler/ir/window.h"
#include "compiler/operators/zero_padding/zero_padding.h"
#include "compiler/target/tpu_v1/lowering/lowerings.h"
#include "hw/isa/instructions/vector.h"

namespace systole::tpu_v1 {
namespace {

void lower_pool(const ir::NodeView& node, isa::VectorOperation operation, Lowering& lowering) {
    const ir::Window window = ir::window_of(node.node());
    if (window.is_dilated()) {
        lowering.fail(node.node(),
                      fmt::format("it pools with {}; the chip pools without dilation", to_text(window)));
    }
    lowering.add_layer(node.node(), node.node().output(), Pooling{operation, window, false});
}

}  // namespace

bool is_of_bytes(const ir::NodeView& node) {
    return bytes_of(node.output().type) == 1;
}

void lower_max_pool(const ir::NodeView& node, Lowering& lowering) {
    lower_pool(node, isa::VectorOperation::MaxPool, lowering);
}

void lower_average_pool(const ir::NodeView& node, Lowering& lowering) {
    lower_pool(node, isa::VectorOperation::AveragePool, lowering);
}

/// Max pooling with 1x1 windows, in which elements outside the image count as 0.
void lower_zero_padding(const ir::NodeView& node, Lowering& lowering) {
    const auto [top, left, bottom, right] = operators::padding_of(node.node());
    const ir::Window window{.pad_top = top, .pad_left = left, .pad_bottom = bottom, .pad_right = right};
    lowering.add_layer(node.node(), node.node().output(),
                       Pooling{isa::VectorOperation::MaxPool, window, true});
}

}  // namespace systole::tpu_v1
