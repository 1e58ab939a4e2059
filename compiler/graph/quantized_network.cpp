#include "compiler/graph/quantized_network.h"

namespace systole::quantized {
namespace {

std::uint64_t kernel_elements(const ir::Window& window) {
    return std::uint64_t{window.kernel_height} * window.kernel_width;
}

/// Multiply-accumulates of each kind of operation, from the shapes of its input and output.
struct CountMacs {
    const ir::FeatureMap& input;
    const ir::FeatureMap& output;
    std::uint64_t input_elements;  ///< of all inputs

    std::uint64_t operator()(const Convolution& convolution) const {
        return output.elements() * kernel_elements(convolution.window) * input.channels;
    }
    std::uint64_t operator()(const DepthwiseConvolution& convolution) const {
        return output.elements() * kernel_elements(convolution.window);
    }
    std::uint64_t operator()(const Dense&) const { return input_elements * output.elements(); }
    std::uint64_t operator()(const Pool&) const { return 0; }
    std::uint64_t operator()(const Add&) const { return 0; }
    std::uint64_t operator()(const Multiply&) const { return 0; }
    std::uint64_t operator()(const Lookup&) const { return 0; }
    std::uint64_t operator()(const Concat&) const { return 0; }
    std::uint64_t operator()(const Slice&) const { return 0; }
};

}  // namespace

std::uint64_t macs(const Network& network, const Layer& layer) {
    const ir::FeatureMap& input = network.tensors.at(layer.inputs.at(0)).shape;
    const ir::FeatureMap& output = network.tensors.at(layer.output).shape;
    std::uint64_t elements = 0;
    for (const TensorId id : layer.inputs) elements += network.tensors.at(id).shape.elements();
    return std::visit(CountMacs{input, output, elements}, layer.operation);
}

}  // namespace systole::quantized
