#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/conversion.h"
#include "base/data_type.h"
#include "compiler/ir/window.h"
#include "sim/run/input/images.h"
#include "sim/run/record/content.h"
#include "sim/run/record/record.h"
#include "sim/run/record/spec.h"

namespace systole::run {

/// Images and where they come from, for messages.
struct NamedImages {
    std::string name;
    input::Images images;
    std::uint64_t in_files = 0;  ///< images in the files; `images` may hold fewer
    std::string input = {};      ///< the network's input that they are for
    bool is_state = false;       ///< the chip keeps them from batch to batch: there are those of one
    std::vector<std::string> warnings = {};  ///< about their files
};

/// An input of a network or program.
struct InputTensor {
    std::string name;
    std::vector<std::uint32_t> shape = {};  ///< of one inference, in the order of the graph
    /// From the graph's order to that of the network's file, for the axes of one inference (input/axes.h);
    /// empty if they are the same.
    std::vector<std::uint32_t> file_axes = {};
    DataType type = DataType::Float32;  ///< of a float network, float32
    /// Above 1: so many inferences share an array (ir::Graph::replicas): each takes its part along the axis
    /// `split_axis` of `shape`, or all of it.
    std::uint32_t replicas = 1;
    std::optional<std::uint32_t> split_axis = {};
    /// Of state: the inferences of a batch, which are all that it has; 0 of others.
    std::uint64_t state_inferences = 0;

    /// The image that one inference takes; a vector for what has more axes.
    ir::FeatureMap map() const;
};

/// The values of each input, one after the other. A file without an input's name is for the only input; of
/// several, it is an .npz file for those that its arrays name and that have no file of their own. All inputs
/// must have as many inferences. Throws InputError for an input without a file, and for a file without its
/// input.
std::vector<NamedImages> read_inputs(const std::vector<InputFile>& files,
                                     const std::vector<InputTensor>& tensors, const Preparation& preparation,
                                     const std::string& model);

/// The first input that is no state, whose number of inferences all such inputs have; null if there is none.
const NamedImages* first_without_state(const std::vector<NamedImages>& inputs);

/// Throws InputError unless the input has as many inferences as the first one.
void check_as_many(const NamedImages& input, const NamedImages& first);

/// Keeps the first `count` images.
void keep_first(input::Images& images, std::uint64_t count);

/// Keeps the number of images, their shape and the kind of their values, without the values.
void drop_values(input::Images& images);

/// Throws InputError unless the images have the shape, apart from extents of 1, or, if they or the network's
/// input are vectors, its number of values.
void check_shape(const NamedImages& named, const ir::FeatureMap& shape, const std::string& model);

/// How an 8-bit pixel becomes a number of the network's input: (pixel * scale - mean) / deviation.
struct Normalization {
    double scale = 1.0;
    std::vector<double> mean = {};       ///< of all channels, or one a channel; empty: 0
    std::vector<double> deviation = {};  ///< likewise; empty: 1
    /// Instead: the lowest number of the network's own 8-bit type stands for pixel 0, the next one for
    /// pixel 1.
    bool as_stored = false;
    std::int32_t lowest = 0;  ///< that number

    /// The number of a pixel.
    double real(std::uint32_t pixel, std::size_t channel) const;
};

/// Throws InputError unless the normalization fits the images: one mean and deviation, or as many as
/// channels, and none for floats.
void check_normalization(const NamedImages& named, const Normalization& normalization);

/// Image `first` and the following ones as the network's input: floats unchanged, integers as floats, and
/// pixels as numbers, or as the stored numbers of a network on integers.
std::vector<float> to_floats(const input::Images& images, std::uint64_t first, std::uint64_t count,
                             const Normalization& normalization);

/// The largest 8-bit pixel.
inline constexpr double most_pixel = 255.0;

/// A warning for values that are probably of another scale than the network expects: pixels from 0 to 255
/// where it expects 0 to 1, or the reverse. `highest` is the largest number that it expects for a pixel.
std::optional<std::string> scale_warning(const NamedImages& named, double pixel_scale, double highest);

/// A warning for pictures whose EXIF orientation is not that of their pixels.
std::optional<std::string> orientation_warning(const NamedImages& named);

/// A warning for pixels that the run scales although a layer of the network does, or for floats from 0 to 1
/// where that layer expects pixels from 0 to 255.
std::optional<std::string> scaled_twice_warning(const NamedImages& named, const Normalization& normalization,
                                                std::string_view layer);

/// A warning for floats that the storage does not hold: most of those besides 0 become 0, more than 1 % are
/// outside of its range, or one is farther outside than the range is wide. Pixels and integers have no
/// warning. Readers refuse floats that are not finite.
std::optional<std::string> storage_warning(const NamedImages& named, const Storage& storage);

/// The storage in uint8 that keeps each pixel as it is; absent if no zero point does so.
std::optional<Storage> storage_of_pixels(const Normalization& normalization);

/// Whether the values in the files are stored as they are: pixels of the tensor's scale, or its own integers.
bool stored_unchanged(const input::Images& images, const Normalization& normalization,
                      const Storage& storage);

/// Fills `stored` with all images, little endian; values out of range are clamped. Words stay as they are.
void store(const input::Images& images, const Normalization& normalization, const Storage& storage,
           std::span<std::uint8_t> stored);

/// Some of the images, as many as a page can show: first those whose label differs from the prediction, then
/// the others, each in their order. None if the images do not have 1 or 3 channels, if they are too large, or
/// if there are no predictions. Floating-point values are scaled from the range of each picture to 0..255.
/// `labels` are empty or as many as images.
Pictures choose_pictures(const input::Images& images, const Outputs& outputs,
                         std::span<const std::uint32_t> labels, bool are_probabilities);

/// Shows pictures whose first channel is blue as red, green, blue.
void reverse_channels(Pictures& pictures);

/// Pseudo-random inputs with uniformly distributed values; a seed gives the same inputs on every machine.
/// Values are pixels from 0 to 255, or real numbers between -1 and 1 if the network's input has 16 bits.
/// Throws InputError if they take too much memory.
NamedImages random_images(const ir::FeatureMap& shape, std::uint64_t count, std::uint64_t seed,
                          bool takes_16_bits);

/// The same for an input of a network of arrays, as words: floats between -1 and 1, rounded to its format;
/// whole numbers from 0 to 7; truth values.
NamedImages random_array(const InputTensor& tensor, std::uint64_t count, std::uint64_t seed);

}  // namespace systole::run
