#include <fmt/format.h>

#include <limits>

#include "base/random_values.h"
#include "sim/run/images.h"
#include "sim/run/input/images.h"

namespace systole::run {

NamedImages random_images(const ir::FeatureMap& shape, std::uint64_t count, std::uint64_t seed,
                          bool takes_16_bits) {
    const std::string name = fmt::format("random_input {}", seed);
    if (count > std::numeric_limits<std::uint32_t>::max()) {
        throw input::InputError(fmt::format("{}: {} inputs are too many; there may be at most {}", name,
                                            count, std::numeric_limits<std::uint32_t>::max()));
    }
    input::Images images{.count = static_cast<std::uint32_t>(count),
                         .height = shape.height,
                         .width = shape.width,
                         .channels = shape.channels,
                         .values = {}};
    const std::uint64_t stream = seed_for(seed, "input");
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
    return {.name = name, .images = std::move(images), .in_files = count};
}

}  // namespace systole::run
