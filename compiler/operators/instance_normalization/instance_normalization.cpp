// Each channel of each image with mean 0 and variance 1, times a scale plus an offset.
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/normalization.h"

namespace systole::operators {
namespace {

ir::Results read_onnx_instance_normalization(ir::LayerReader& layer) {
    return layer.append("instance_normalization",
                        {{"epsilon", onnx_epsilon(layer)}, {"axis", std::int64_t{1}}},
                        {input_of(layer, 0), input_of(layer, 1), input_of(layer, 2)});
}

class InstanceNormalization final : public ChannelNormalization {
public:
    std::string_view name() const override { return "instance_normalization"; }
    std::string_view summary() const override {
        return "Each channel of each image with mean 0 and variance 1, times a scale plus an offset. Inputs: "
               "the tensor, whose first axis is the batch; scale and offset: [channel].";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{epsilon_attribute(),
                                                                        axis_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "InstanceNormalization",
                 .keys = {{"epsilon", "`epsilon`"}},
                 .build = read_onnx_instance_normalization}};
    }

protected:
    std::size_t groups(const ir::Node& /*node*/, std::uint32_t channels) const override { return channels; }
};

}  // namespace

std::unique_ptr<ir::Operator> make_instance_normalization() {
    return std::make_unique<InstanceNormalization>();
}

}  // namespace systole::operators
