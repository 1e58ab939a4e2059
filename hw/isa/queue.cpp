#include "hw/isa/queue.h"

#include <algorithm>
#include <array>

namespace systole::isa {
namespace {

constexpr std::array<std::string_view, queue_count> queue_texts = {
    "host_read", "host_write", "weights", "matrix", "activation", "host",       "ring",        "mesh",
    "tiles",     "dma_in",     "dma_out", "vector", "cross_lane", "collective", "weight_write"};
static_assert(!queue_texts.back().empty(), "each queue has a name");

}  // namespace

std::span<const std::string_view> queue_names() {
    return queue_texts;
}

std::string_view name(QueueId queue) {
    return queue_texts.at(static_cast<std::size_t>(queue));
}

std::optional<QueueId> find_queue(std::string_view name) {
    const auto found = std::find(queue_texts.begin(), queue_texts.end(), name);
    if (found == queue_texts.end()) return std::nullopt;
    return static_cast<QueueId>(found - queue_texts.begin());
}

}  // namespace systole::isa
