#include "compiler/target/tpu_v1/schedule/layer_lowering.h"

#include <fmt/format.h>

#include <stdexcept>

#include "compiler/ir/model_error.h"

namespace systole::tpu_v1 {

void require(bool holds, const Network& network, const Layer& layer, std::string_view rule) {
    if (!holds) {
        throw std::logic_error(
            fmt::format("quantized network \"{}\": layer \"{}\": {}", network.name, layer.name, rule));
    }
}

void LayerView::require(bool holds, std::string_view rule) const {
    tpu_v1::require(holds, network, layer, rule);
}

void LayerView::reject(std::string_view message) const {
    throw ModelError(fmt::format("{}: layer \"{}\": {}", network.name, layer.name, message));
}

std::vector<Chunk> LayerLowering::chunks(std::uint32_t limit) const {
    std::vector<Chunk> result = cut_lines(plan.parts.front().grid, images, limit);
    for (Chunk& chunk : result) chunk.first_image += first_image;
    return result;
}

}  // namespace systole::tpu_v1
