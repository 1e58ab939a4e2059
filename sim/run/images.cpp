#include "sim/run/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <variant>

#include "compiler/ir/names.h"
#include "sim/run/input/read.h"

namespace systole::run {
namespace {

/// The extents that are not 1.
std::vector<std::uint32_t> sides_of(const ir::FeatureMap& map) {
    std::vector<std::uint32_t> sides{map.height, map.width, map.channels};
    std::erase(sides, 1U);
    return sides;
}

}  // namespace

NamedImages read_images(const std::vector<Content>& files, const ir::FeatureMap& shape,
                        const std::string& model) {
    std::vector<std::filesystem::path> found;
    found.reserve(files.size());
    for (const Content& file : files) found.emplace_back(file.path.text);
    std::string name = found.empty() ? "" : found.front().string();
    if (found.size() > 1) name += fmt::format(" and {} more", found.size() - 1);
    input::Images images = input::read_images(found, shape.elements());
    const std::uint64_t count = images.count;
    NamedImages named{.name = std::move(name), .images = std::move(images), .in_files = count};
    check_shape(named, shape, model);
    return named;
}

void keep_first(input::Images& images, std::uint64_t count) {
    if (count >= images.count) return;
    images.count = static_cast<std::uint32_t>(count);
    std::visit([&](auto& values) { values.resize(images.size()); }, images.values);
}

void check_shape(const NamedImages& named, const ir::FeatureMap& shape, const std::string& model) {
    const input::Images& images = named.images;
    const ir::FeatureMap image{images.height, images.width, images.channels};
    const std::vector<std::uint32_t> given = sides_of(image);
    const std::vector<std::uint32_t> wanted = sides_of(shape);
    const bool is_either_vector = std::min(given.size(), wanted.size()) <= 1;
    if (given == wanted || (is_either_vector && image.elements() == shape.elements())) return;
    throw input::InputError(fmt::format("{}: the images are {}; {} takes {}", named.name, ir::to_text(image),
                                        model, ir::to_text(shape)));
}

std::vector<float> to_floats(const input::Images& images, std::uint64_t first, std::uint64_t count,
                             double pixel_scale) {
    const std::uint64_t begin = first * images.values_per_image();
    const std::uint64_t size = count * images.values_per_image();
    std::vector<float> floats(size);
    if (const auto* values = images.floats()) {
        std::copy_n(values->data() + begin, size, floats.data());
        return floats;
    }
    std::array<float, 256> table{};
    for (std::size_t pixel = 0; pixel < table.size(); ++pixel) {
        table[pixel] = static_cast<float>(static_cast<double>(pixel) * pixel_scale);
    }
    const std::uint8_t* const pixels = std::get<std::vector<std::uint8_t>>(images.values).data() + begin;
    std::transform(pixels, pixels + size, floats.begin(), [&](std::uint8_t pixel) { return table[pixel]; });
    return floats;
}

std::optional<std::string> scale_warning(const NamedImages& named, double pixel_scale, double highest) {
    // A dark image ends far below the highest number, and a bright one at it: 0 to 255 in place of 0 to 1, or
    // the reverse, differs more.
    constexpr double too_large = 16.0;
    constexpr double too_small = 1.0 / 128.0;
    const auto is_off = [&](double reached) {
        return reached > 0.0 && (reached > too_large * highest || reached <= too_small * highest);
    };
    if (const auto* floats = named.images.floats()) {
        const auto [least, most] = std::minmax_element(floats->begin(), floats->end());
        if (*least < 0.0F || *most > most_pixel || !is_off(*most))
            return std::nullopt;  // other data, or right
        return fmt::format(
            "{}: the largest value is {}; the network expects pixels up to {:.4g}, and floats are taken as "
            "they "
            "are (--input-scale is for 8-bit pixels)",
            named.name, *most, highest);
    }
    const std::uint8_t most = *std::max_element(named.images.pixels()->begin(), named.images.pixels()->end());
    if (!is_off(most * pixel_scale)) return std::nullopt;
    return fmt::format(
        "{}: the largest 8-bit pixel is {}, which stands for {:.4g}; the network expects up to {:.4g} "
        "(--input-scale is {:.4g})",
        named.name, most, most * pixel_scale, highest, pixel_scale);
}

bool stored_unchanged(const input::Images& images, double pixel_scale, const Storage& storage) {
    // A program file has the exact scale; a run file may round it.
    constexpr double tolerance = 1e-6;
    return images.pixels() != nullptr && storage.zero_point == 0 && storage.type == DataType::Uint8 &&
           std::abs(storage.scale - pixel_scale) <= tolerance * storage.scale;
}

void store(const input::Images& images, double pixel_scale, const Storage& storage,
           std::span<std::uint8_t> stored) {
    const std::size_t element_bytes = bytes_of(storage.type);
    if (stored.size() != images.size() * element_bytes) {
        throw std::logic_error(fmt::format("the input buffer has {} bytes; the images have {} values",
                                           stored.size(), images.size()));
    }
    if (stored_unchanged(images, pixel_scale, storage)) {
        std::copy(images.pixels()->begin(), images.pixels()->end(), stored.begin());
        return;
    }
    const double least = lowest_of(storage.type);
    const double most = highest_of(storage.type);
    const auto store_all = [&](const auto& values, double factor) {
        auto to = stored.begin();
        for (const auto each : values) {
            const double nearest = std::round(each * factor / storage.scale) + storage.zero_point;
            const auto value = static_cast<std::int32_t>(std::clamp(nearest, least, most));
            for (std::size_t i = 0; i < element_bytes; ++i)
                *to++ = static_cast<std::uint8_t>(value >> (8 * i));
        }
    };
    if (const auto* floats = images.floats()) {
        store_all(*floats, 1.0);
    } else {
        store_all(std::get<std::vector<std::uint8_t>>(images.values), pixel_scale);
    }
}

}  // namespace systole::run
