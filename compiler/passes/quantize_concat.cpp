// Quantizes concatenations: bytes lie side by side, so all must mean the same. Ranges have been united
// (unite_ranges.h); a lookup brings what has another encoding all the same, such as the network's input.
#include "compiler/passes/quantizer.h"
#include "compiler/passes/unite_ranges.h"

namespace systole::passes {

using quantized::TensorId;

bool quantize_concat(Quantizer& quantizer, const ir::Node& node) {
    if (!node.is("concat")) return false;
    quantizer.require_one_width(node);
    const Encoding encoding = quantizer.encoding(node.output());
    std::vector<TensorId> inputs;
    for (const ir::ValueId input : node.inputs) {
        const TensorId tensor = quantizer.tensor_of(input);
        const Encoding own = encoding_of(quantizer.tensor(tensor));
        // The network's input is rescaled even if the table changes nothing: the layers follow from the
        // network alone, not from the values that calibration saw.
        if (own == encoding && !ir::is_input(quantizer.graph(), moved_source(quantizer.graph(), input))) {
            inputs.push_back(tensor);
            continue;
        }
        const auto table = make_table([](float real) { return real; }, own, encoding);
        inputs.push_back(quantizer.add_rescaled(input, encoding));
        quantizer.add_layer(node, {tensor}, inputs.back(), quantized::Lookup{table});
    }
    const TensorId output = quantizer.add_tensor(node.output(), encoding);
    quantizer.add_layer(node, std::move(inputs), output, quantized::Concat{});
    return true;
}

}  // namespace systole::passes
