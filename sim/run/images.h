#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/window.h"
#include "hw/base/data_type.h"
#include "sim/run/input/images.h"
#include "sim/run/record/content.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// Images and where they come from, for messages.
struct NamedImages {
    std::string name;
    input::Images images;
    std::uint64_t in_files = 0;  ///< images in the files; `images` may hold fewer
};

/// Reads the files, in order, for a network whose input has this shape. Throws InputError, also as
/// `check_shape` does.
NamedImages read_images(const std::vector<Content>& files, const ir::FeatureMap& shape,
                        const std::string& model);

/// Keeps the first `count` images.
void keep_first(input::Images& images, std::uint64_t count);

/// Throws InputError unless the images have the shape, apart from extents of 1, or, if they or the network's
/// input are vectors, its number of values.
void check_shape(const NamedImages& named, const ir::FeatureMap& shape, const std::string& model);

/// Image `first` and the following ones as the network's input: pixels times `pixel_scale`, floats unchanged.
std::vector<float> to_floats(const input::Images& images, std::uint64_t first, std::uint64_t count,
                             double pixel_scale);

/// The largest 8-bit pixel.
inline constexpr double most_pixel = 255.0;

/// A warning for values that are probably of another scale than the network expects: pixels from 0 to 255
/// where it expects 0 to 1, or the reverse. `highest` is the largest number that it expects for a pixel.
std::optional<std::string> scale_warning(const NamedImages& named, double pixel_scale, double highest);

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

/// Some of the images, as many as a page can show: first those whose label differs from the prediction, then
/// the others, each in their order. None if the images do not have 1 or 3 channels, if they are too large, or
/// if there are no predictions. Floating-point values are scaled from the range of each picture to 0..255.
/// `labels` are empty or as many as images.
Pictures choose_pictures(const input::Images& images, const Outputs& outputs,
                         std::span<const std::uint32_t> labels, bool are_probabilities);

/// Pseudo-random inputs with uniformly distributed values; a seed gives the same inputs on every machine.
/// Values are pixels from 0 to 255, or real numbers between -1 and 1 if the network's input has 16 bits.
/// Throws InputError if they take too much memory.
NamedImages random_images(const ir::FeatureMap& shape, std::uint64_t count, std::uint64_t seed,
                          bool takes_16_bits);

}  // namespace systole::run
