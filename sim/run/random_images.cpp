#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random_values.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/floats/word_values.h"
#include "sim/run/images.h"
#include "sim/run/input/images.h"

namespace systole::run {

namespace {

constexpr std::string_view stream_name = "input";

/// Inputs without values. Throws InputError if they are too many.
NamedImages made_up(const ir::FeatureMap& shape, std::uint64_t count, std::uint64_t seed) {
    std::string name = fmt::format("random_input {}", seed);
    if (count > std::numeric_limits<std::uint32_t>::max()) {
        throw input::InputError(fmt::format("{}: {} inputs are too many; there may be at most {}", name,
                                            count, std::numeric_limits<std::uint32_t>::max()));
    }
    input::Images images{.count = static_cast<std::uint32_t>(count),
                         .height = shape.height,
                         .width = shape.width,
                         .channels = shape.channels,
                         .values = {}};
    return {.name = std::move(name), .images = std::move(images), .in_files = count};
}

float rounded_to(DataType type, float number) {
    if (type == DataType::Bfloat16) return math::rounded_to_bfloat16(number);
    return type == DataType::Float16 ? math::rounded_to_float16(number) : number;
}

}  // namespace

NamedImages random_images(const ir::FeatureMap& shape, std::uint64_t count, std::uint64_t seed,
                          bool takes_16_bits) {
    NamedImages made = made_up(shape, count, seed);
    input::Images& images = made.images;
    const std::string& name = made.name;
    const std::uint64_t stream = seed_for(seed, stream_name);
    if (takes_16_bits) {
        std::vector<float> values(input::checked_size(images, sizeof(float), name));
        fill_random(values, 1.0F, stream);
        images.values = std::move(values);
    } else {
        std::vector<std::uint8_t> pixels(input::checked_size(images, 1, name));
        SplitMix64 random(stream);
        for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(random.next() >> 56U);
        images.values = std::move(pixels);
    }
    return made;
}

NamedImages random_array(const InputTensor& tensor, std::uint64_t count, std::uint64_t seed) {
    std::uint32_t elements = 1;
    for (const std::uint32_t extent : tensor.shape) elements *= extent;
    NamedImages made = made_up({.height = 1, .width = 1, .channels = elements}, count, seed);
    std::vector<std::uint32_t> words(input::checked_size(made.images, sizeof(std::uint32_t), made.name));
    const std::uint64_t stream = seed_for(seed, stream_name);
    if (is_float(tensor.type)) {
        std::vector<float> values(words.size());
        fill_random(values, 1.0F, stream);
        std::ranges::transform(values, words.begin(), [&](float value) {
            return std::bit_cast<std::uint32_t>(rounded_to(tensor.type, value));
        });
    } else {
        const unsigned bits = tensor.type == DataType::Bool ? 1 : 3;
        SplitMix64 random(stream);
        for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.next() >> (64U - bits));
    }
    made.images.values = std::move(words);
    return made;
}

}  // namespace systole::run
