#include "compiler/frontend/keras/masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/message_text.h"

namespace systole::frontend {
namespace {

/// Layers that leave masked steps out.
constexpr std::array<std::string_view, 14> leaves_out{"AdditiveAttention",
                                                      "Attention",
                                                      "Bidirectional",
                                                      "ConvLSTM1D",
                                                      "ConvLSTM2D",
                                                      "ConvLSTM3D",
                                                      "GRU",
                                                      "GlobalAveragePooling1D",
                                                      "GroupQueryAttention",
                                                      "LSTM",
                                                      "MultiHeadAttention",
                                                      "RNN",
                                                      "SimpleRNN",
                                                      "Softmax"};

/// Layers whose result has other steps, and no mask. At all others it is taken to go on: so a network may be
/// refused that Keras computes without its mask, but none is computed otherwise than by Keras.
constexpr std::array<std::string_view, 23> ends_mask{"AveragePooling1D",
                                                     "AveragePooling2D",
                                                     "Conv1D",
                                                     "Conv1DTranspose",
                                                     "Conv2D",
                                                     "Conv2DTranspose",
                                                     "Cropping1D",
                                                     "Cropping2D",
                                                     "DepthwiseConv1D",
                                                     "DepthwiseConv2D",
                                                     "Flatten",
                                                     "GlobalAveragePooling2D",
                                                     "GlobalMaxPooling1D",
                                                     "GlobalMaxPooling2D",
                                                     "MaxPooling1D",
                                                     "MaxPooling2D",
                                                     "Permute",
                                                     "RepeatVector",
                                                     "Reshape",
                                                     "SeparableConv1D",
                                                     "SeparableConv2D",
                                                     "UpSampling1D",
                                                     "ZeroPadding1D"};

template <typename Names>
bool is_among(const Names& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

bool makes_mask(const KerasLayer& layer) {
    if (layer.class_name == "Masking") return true;
    if (layer.class_name != "Embedding" || !layer.config.is_object()) return false;
    const auto key = layer.config.find("mask_zero");
    if (key == layer.config.end()) return false;
    return key->is_boolean() ? key->get<bool>() : *key == 1;
}

/// Checks the layers of a model whose inputs have the mask of a layer, if any. Returns the layer whose mask
/// its first result has; null: none.
const KerasLayer* check_with(const KerasModelConfig& model, const KerasLayer* of_inputs) {
    std::vector<const KerasLayer*> makers;  // by call: the layer whose mask its results have; null: none
    for (const KerasCall& call : model.calls) {
        const KerasLayer& layer = model.layers[call.layer];
        const KerasLayer* maker = call.inputs.empty() ? of_inputs : nullptr;
        for (const KerasResult& input : call.inputs) {
            if (maker == nullptr) maker = makers[input.call];
        }
        if (layer.each_step != nullptr) {
            const KerasLayer* const of_steps = check_with(*layer.each_step, maker);
            makers.push_back(of_steps != nullptr ? of_steps : maker);
            continue;
        }
        if (maker != nullptr && is_among(leaves_out, layer.class_name)) {
            fail(layer,
                 fmt::format("it would leave out the steps that layer {} masks; masks are not supported",
                             in_quotes(maker->name)));
        }
        if (makes_mask(layer)) {
            maker = &layer;
        } else if (layer.class_name == "Embedding" || is_among(ends_mask, layer.class_name)) {
            maker = nullptr;
        }
        makers.push_back(maker);
    }
    return model.outputs.empty() ? nullptr : makers[model.outputs.front().call];
}

}  // namespace

void check_masks(const KerasModelConfig& model) {
    static_cast<void>(check_with(model, nullptr));
}

}  // namespace systole::frontend
