// The network's input, an image or a vector. Layers of files become an input of the graph; no node has this
// operator.
#include <stdexcept>

#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

ir::ValueId read_keras_input(ir::LayerReader& layer) {
    const char* const key = layer.has("batch_shape") ? "batch_shape" : "batch_input_shape";
    if (!layer.has(key)) layer.fail("batch_shape", "it must be given");
    std::vector<std::uint32_t> extents{1};
    const auto values = layer.is_list(key) ? *layer.integers(key) : ir::LayerReader::Integers{};
    for (std::size_t i = 1; i < values.size(); ++i) {
        if (!values[i] || *values[i] < 1) {
            layer.fail(key, "all but the first must be integers from 1 to 4294967295");
        }
        extents.push_back(static_cast<std::uint32_t>(*values[i]));
    }
    constexpr std::size_t vector_rank = 2;
    constexpr std::size_t images_rank = 5;  // a step of images for each index of axis 1
    if (extents.size() < vector_rank || extents.size() > images_rank) {
        layer.fail(key, "behind the batch, it must have 1 to 4 dimensions");
    }
    return layer.add_input(ir::Shape(extents));
}

class Input final : public Operator {
public:
    std::string_view name() const override { return "input"; }
    std::string_view summary() const override { return "The network's input, an image or a vector."; }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Keras,
                 .name = "InputLayer",
                 .keys = {{"batch_shape", "the shape, after a batch of any size"},
                          {"batch_input_shape", "the same, in Keras before 3"}},
                 .build = read_keras_input}};
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& /*node*/) const override {
        throw std::logic_error("an input is a value of the graph, not a node");
    }
    Placement placement() const override {
        return {.where = "sent by the host", .formats = "float32; uint8, int8, int16"};
    }
    void evaluate(const FloatCall& /*call*/) const override {
        throw std::logic_error("an input is given, not computed");
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_input() {
    return std::make_unique<Input>();
}

}  // namespace systole::operators
