#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <variant>

#include "sim/run/images.h"

namespace systole::run {
namespace {

constexpr std::uint64_t most_pictures = 120;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20U;  // limit for the pixels of all pictures

template <typename Number>
std::vector<std::uint8_t> stretched(std::span<const Number> numbers) {
    const std::vector<float> values(numbers.begin(), numbers.end());
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const float range = *most > *least ? *most - *least : 1.0F;
    std::vector<std::uint8_t> pixels;
    pixels.reserve(values.size());
    for (const float value : values) {
        pixels.push_back(static_cast<std::uint8_t>(std::lround(255.0F * (value - *least) / range)));
    }
    return pixels;
}

std::vector<std::uint8_t> pixels_of(const input::Images& images, std::uint64_t index) {
    const std::uint64_t count = images.values_per_image();
    if (const auto* pixels = images.pixels()) {
        const auto first = pixels->begin() + static_cast<std::ptrdiff_t>(index * count);
        return {first, first + static_cast<std::ptrdiff_t>(count)};
    }
    return std::visit(
        [&](const auto& values) { return stretched(std::span(values).subspan(index * count, count)); },
        images.values);
}

/// The indices of all images, those with a wrong prediction first.
std::vector<std::uint64_t> order_of(std::span<const std::uint32_t> predictions,
                                    std::span<const std::uint32_t> labels) {
    std::vector<std::uint64_t> order(predictions.size());
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    if (!labels.empty()) {
        std::stable_partition(order.begin(), order.end(),
                              [&](std::uint64_t index) { return predictions[index] != labels[index]; });
    }
    return order;
}

}  // namespace

Pictures choose_pictures(const input::Images& images, const Outputs& outputs,
                         std::span<const std::uint32_t> labels, bool are_probabilities) {
    Pictures chosen{.height = images.height,
                    .width = images.width,
                    .channels = images.channels,
                    .pictures = {},
                    .left_out = images.count};
    const bool are_pictures =
        (images.channels == 1 || images.channels == 3) && images.height > 1 && images.width > 1;
    if (!are_pictures || outputs.predictions.size() != images.count) return chosen;
    const std::uint64_t fit = std::min(most_pictures, most_bytes / images.values_per_image());
    const std::vector<std::uint64_t> order = order_of(outputs.predictions, labels);
    for (std::size_t i = 0; i < order.size() && i < fit; ++i) {
        const std::uint64_t index = order[i];
        Picture picture{.index = index,
                        .prediction = outputs.predictions[index],
                        .label = {},
                        .probability = {},
                        .pixels = pixels_of(images, index)};
        if (!labels.empty()) picture.label = labels[index];
        if (are_probabilities) {
            picture.probability = outputs.values[index * outputs.per_inference + picture.prediction];
        }
        chosen.pictures.push_back(std::move(picture));
    }
    chosen.left_out = images.count - chosen.pictures.size();
    return chosen;
}

void reverse_channels(Pictures& pictures) {
    constexpr std::uint32_t colors = 3;
    if (pictures.channels != colors) return;
    for (Picture& picture : pictures.pictures) {
        for (std::size_t i = 0; i < picture.pixels.size(); i += colors) {
            std::swap(picture.pixels[i], picture.pixels[i + 2]);
        }
    }
}

}  // namespace systole::run
