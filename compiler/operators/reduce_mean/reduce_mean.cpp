// The mean of the elements along some axes.
#include "compiler/ir/window.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/scaled_sum.h"

namespace systole::operators {
namespace {

class ReduceMean final : public ScaledSum {
public:
    ReduceMean()
        : ScaledSum({.name = "reduce_mean",
                     .summary = "The mean of the elements along some axes; of integers, rounded towards 0.",
                     .combine_floats = sum_floats,
                     .combine_integers = sum_integers,
                     .onnx_name = "ReduceMean",
                     .tflite_name = "MEAN"},
                    true) {}

    Placement placement() const override {
        return {.where = "host; in float networks, over the height and width of an image as `average_pool`",
                .formats = "float32; integers"};
    }

    /// The mean over the whole image is average pooling, if the image is stored.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        const ir::NodeView view = quantizer.view(node);
        const ir::Shape& shape = view.input().shape;
        const bool is_image = shape.rank() == 4 && shape[0] == 1 && view.input().type == DataType::Float32;
        const bool is_whole = is_image && reduced_axes(view) == std::vector<std::size_t>{1, 2};
        const bool keeps_width = is_whole && quantizer.is_stored(node.inputs.front()) &&
                                 bytes_of(quantizer.stored_encoding(node.inputs.front()).type) == 1;
        if (!keeps_width) return quantizer.add_real(node);
        const ir::Encoding encoding = quantizer.stored_encoding(node.inputs.front());
        const ir::Window window{.kernel_height = shape[1], .kernel_width = shape[2]};
        const bool keeps_axes = view.output().shape.rank() == 4;
        const ir::ValueId pooled = keeps_axes
                                       ? quantizer.add_value(node.output(), encoding)
                                       : quantizer.add_value(node.output(), {1, 1, 1, shape[3]}, encoding);
        quantizer.add_node(
            {.name = node.name,
             .op = &registry().at("average_pool"),
             .attributes = ir::complete_attributes(registry().at("average_pool"), ir::attributes_of(window)),
             .inputs = {quantizer.stored(node.inputs.front())},
             .outputs = {pooled}});
        if (keeps_axes) return quantizer.store(node.output(), pooled);
        const ir::ValueId flat = quantizer.add_value(node.output(), encoding);
        const std::vector<std::int64_t> extents(view.output().shape.extents().begin(),
                                                view.output().shape.extents().end());
        quantizer.add_node({.name = node.name,
                            .op = &registry().at("reshape"),
                            .attributes = {extents},
                            .inputs = {pooled},
                            .outputs = {flat}});
        quantizer.store(node.output(), flat);
    }

protected:
    float finish_float(float sum, std::size_t count) const override {
        return sum / static_cast<float>(count);
    }
    std::int32_t finish_integer(std::int32_t sum, std::size_t count) const override {
        return count == 0 ? 0
                          : static_cast<std::int32_t>(std::int64_t{sum} / static_cast<std::int64_t>(count));
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_reduce_mean() {
    return std::make_unique<ReduceMean>();
}

}  // namespace systole::operators
