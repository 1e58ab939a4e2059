#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/window.h"
#include "hw/base/data_type.h"
#include "sim/run/input/images.h"
#include "sim/run/record/content.h"

namespace systole::run {

/// Images and where they come from, for messages.
struct NamedImages {
    std::string name;
    input::Images images;
    std::uint64_t in_files = 0;  ///< images in the files; `images` may hold fewer
};

/// Reads the files, in order. Throws InputError.
NamedImages read_images(const std::vector<Content>& files);

/// Keeps the first `count` images.
void keep_first(input::Images& images, std::uint64_t count);

/// Throws InputError unless the images have the shape or, if the network's input is a vector, its number of
/// values.
void check_shape(const NamedImages& named, const ir::FeatureMap& shape, const std::string& model);

/// Image `first` and the following ones as the network's input: pixels times `pixel_scale`, floats unchanged.
std::vector<float> to_floats(const input::Images& images, std::uint64_t first, std::uint64_t count,
                             double pixel_scale);

/// How a tensor stores real numbers: real = scale * (stored - zero_point).
struct Storage {
    double scale = 1.0;
    std::int32_t zero_point = 0;
    DataType type = DataType::Uint8;
};

/// Whether pixels, each worth `pixel_scale`, are stored as they are.
bool stored_unchanged(const input::Images& images, double pixel_scale, const Storage& storage);

/// Fills `stored` with all images, 16-bit values little endian; values out of range are clamped.
void store(const input::Images& images, double pixel_scale, const Storage& storage,
           std::span<std::uint8_t> stored);

}  // namespace systole::run
