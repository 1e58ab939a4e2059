#include "compiler/schedule/lowering.h"

#include <fmt/format.h>

#include <stdexcept>

#include "compiler/ir/model_error.h"

namespace systole::schedule {

void require(bool holds, const mapping::Network& network, const mapping::Layer& layer,
             std::string_view rule) {
    if (!holds) {
        throw std::logic_error(
            fmt::format("quantized network \"{}\": layer \"{}\": {}", network.name, layer.name, rule));
    }
}

void LayerView::require(bool holds, std::string_view rule) const {
    schedule::require(holds, network, layer, rule);
}

void LayerView::reject(std::string_view message) const {
    throw ModelError(fmt::format("{}: layer \"{}\": {}", network.name, layer.name, message));
}

std::vector<mapping::Chunk> LayerLowering::chunks(std::uint32_t limit) const {
    std::vector<mapping::Chunk> result = mapping::cut_lines(plan.parts.front().grid, images, limit);
    for (mapping::Chunk& chunk : result) chunk.first_image += first_image;
    return result;
}

}  // namespace systole::schedule
