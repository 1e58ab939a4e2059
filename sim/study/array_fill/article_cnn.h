#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "compiler/ir/graph.h"

namespace systole::studies {

/// The digit CNN of models/mnist_cnn at other sizes, without weights: to be timed.
struct ArticleCnn {
    /// The article's SIZE_MULTIPLIER: sides of the input image, in 28 pixels. Layers keep their widths.
    std::uint32_t size_multiplier = 1;
    /// Ours: filters of the convolutions and units of the hidden dense layer, in those of the article (12,
    /// 24, 64 and 200).
    std::uint32_t width_multiplier = 1;
};

/// As a graph file describes it.
nlohmann::json article_cnn_file(const ArticleCnn& which);
ir::Graph article_cnn(const ArticleCnn& which);

}  // namespace systole::studies
