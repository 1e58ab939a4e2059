#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "compiler/ir/graph.h"

namespace systole::studies {

/// The digit CNN of models/mnist_cnn at other sizes, without weights, for timing-only runs.
struct ArticleCnn {
    /// The article's SIZE_MULTIPLIER: the side of the input image is 28 pixels times this. Layers keep their
    /// widths.
    std::uint32_t size_multiplier = 1;
    /// Not in the article: factor on the filters of the convolutions and on the units of the hidden dense
    /// layer (12, 24, 64 and 200 in the article).
    std::uint32_t width_multiplier = 1;
};

/// The network as a graph file.
nlohmann::json article_cnn_file(const ArticleCnn& which);
ir::Graph article_cnn(const ArticleCnn& which);

}  // namespace systole::studies
