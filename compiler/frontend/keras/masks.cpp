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

/// Layers whose result has the mask of their input. It ends at all others.
constexpr std::array<std::string_view, 26> passes_on{"Activation",
                                                     "ActivityRegularization",
                                                     "Add",
                                                     "AlphaDropout",
                                                     "Average",
                                                     "BatchNormalization",
                                                     "Concatenate",
                                                     "Dense",
                                                     "Dropout",
                                                     "ELU",
                                                     "GaussianDropout",
                                                     "GaussianNoise",
                                                     "GroupNormalization",
                                                     "Identity",
                                                     "LayerNormalization",
                                                     "LeakyReLU",
                                                     "Maximum",
                                                     "Minimum",
                                                     "Multiply",
                                                     "PReLU",
                                                     "ReLU",
                                                     "SpatialDropout1D",
                                                     "Subtract",
                                                     "ThresholdedReLU",
                                                     "TimeDistributed",
                                                     "UnitNormalization"};

template <typename Names>
bool is_among(const Names& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

bool makes_mask(const KerasLayer& layer) {
    if (layer.class_name == "Masking") return true;
    if (layer.class_name != "Embedding" || !layer.config.is_object()) return false;
    const auto key = layer.config.find("mask_zero");
    return key != layer.config.end() && (*key == true || *key == 1);
}

}  // namespace

void check_masks(const KerasModelConfig& model) {
    std::vector<const KerasLayer*> makers;  // by call: the layer whose mask its results have; null: none
    for (const KerasCall& call : model.calls) {
        const KerasLayer& layer = model.layers[call.layer];
        if (layer.each_step != nullptr) check_masks(*layer.each_step);
        const KerasLayer* maker = nullptr;
        for (const KerasResult& input : call.inputs) {
            if (maker == nullptr) maker = makers[input.call];
        }
        if (maker != nullptr && is_among(leaves_out, layer.class_name)) {
            fail(layer,
                 fmt::format("it would leave out the steps that layer {} masks; masks are not supported",
                             in_quotes(maker->name)));
        }
        if (makes_mask(layer)) {
            maker = &layer;
        } else if (!is_among(passes_on, layer.class_name)) {
            maker = nullptr;
        }
        makers.push_back(maker);
    }
}

}  // namespace systole::frontend
