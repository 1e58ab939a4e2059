#include "sim/run/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/message_text.h"
#include "sim/run/input/read.h"

namespace systole::run {
namespace {

/// The extents that are not 1.
std::vector<std::uint32_t> sides_of(const ir::FeatureMap& map) {
    std::vector<std::uint32_t> sides{map.height, map.width, map.channels};
    std::erase(sides, 1U);
    return sides;
}

/// For a message: the options that make pictures of another size fit.
std::string proposal(const input::Images& images, const ir::FeatureMap& shape) {
    const bool are_pictures = images.pixels() != nullptr && images.height > 1 && images.width > 1;
    if (!are_pictures || images.channels != shape.channels || shape.is_vector()) return {};
    std::string stretched = fmt::format("; --resize {}x{} scales them", shape.height, shape.width);
    if (shape.height != shape.width) return stretched;
    // As networks on photographs are mostly used: 256 for 224.
    const std::uint32_t shorter = (shape.height * 8 + 6) / 7;
    return fmt::format("{}, --resize {} --crop {} keeps their proportions", stretched, shorter, shape.height);
}

/// Throws InputError for integers that are not those in which the network stores its input.
void check_type(const NamedImages& named, const InputTensor& tensor, const std::string& model) {
    const DataType given = input::type_of(named.images.values);
    if (named.images.pixels() != nullptr || named.images.floats() != nullptr || given == tensor.type) return;
    throw input::InputError(fmt::format("{}: values are {}; {} takes {}, and 8-bit pixels (uint8) or floats",
                                        named.name, input::type_in_files(given), model,
                                        input::type_in_files(tensor.type)));
}

/// As `check_shape`. An input that is no image was compared with its array's shape.
void check_fits(const NamedImages& named, const InputTensor& tensor, const std::string& model) {
    constexpr std::size_t image_rank = 3;
    if (tensor.shape.size() <= image_rank) return check_shape(named, tensor.map(), model);
    std::uint64_t elements = 1;
    for (const std::uint32_t extent : tensor.shape) elements *= extent;
    if (named.images.values_per_image() == elements && named.images.height == 1) return;
    throw input::InputError(fmt::format("{}: these are images; {} takes arrays of shape {}", named.name,
                                        model, fmt::join(tensor.shape, "x")));
}

/// The numbers of the 256 pixels, for each channel; one table if all channels have the same.
std::vector<std::array<double, 256>> pixel_tables(const Normalization& normalization, std::size_t channels) {
    const bool is_alike = normalization.mean.size() <= 1 && normalization.deviation.size() <= 1;
    std::vector<std::array<double, 256>> tables(is_alike ? 1 : channels);
    for (std::size_t channel = 0; channel < tables.size(); ++channel) {
        for (std::uint32_t pixel = 0; pixel < tables[channel].size(); ++pixel) {
            tables[channel].at(pixel) = normalization.real(pixel, channel);
        }
    }
    return tables;
}

/// Reads the files, in order, for this input of the network `model`. If it is not the only input that they
/// may be for, they are .npz files with an array of its name.
NamedImages read_images(input::InputReader& reader, const std::vector<Content>& files,
                        const InputTensor& tensor, const Preparation& preparation, const std::string& model,
                        bool is_only_input) {
    std::vector<std::filesystem::path> found;
    found.reserve(files.size());
    for (const Content& file : files) found.emplace_back(file.path.text);
    std::string name = found.empty() ? "" : found.front().string();
    if (found.size() > 1) name += fmt::format(" and {} more", found.size() - 1);
    const auto check_size = [&](const input::Images& images, std::string_view file) {
        check_fits({.name = std::string(file), .images = images}, tensor, model);
    };
    input::Images images =
        reader.read(found, {.input = tensor.name,
                            .is_only_input = is_only_input,
                            .shape = tensor.shape,
                            .file_axes = tensor.file_axes,
                            .layout = preparation.layout,
                            .resize = preparation.resize,
                            .crop = preparation.crop,
                            .check_size = check_size,
                            .reverse_channels = preparation.channels == ChannelOrder::Bgr});
    const std::uint64_t count = images.count;
    NamedImages named{
        .name = std::move(name), .images = std::move(images), .in_files = count, .input = tensor.name};
    check_type(named, tensor, model);
    check_fits(named, tensor, model);
    return named;
}

}  // namespace

ir::FeatureMap InputTensor::map() const {
    constexpr std::size_t image_rank = 3;
    if (shape.size() > image_rank) {
        std::uint32_t elements = 1;
        for (const std::uint32_t extent : shape) elements *= extent;
        return {.height = 1, .width = 1, .channels = elements};
    }
    std::vector<std::uint32_t> extents{1};
    extents.insert(extents.end(), shape.begin(), shape.end());
    return ir::feature_map(ir::Shape(extents));
}

std::vector<NamedImages> read_inputs(const std::vector<InputFile>& files,
                                     const std::vector<InputTensor>& tensors, const Preparation& preparation,
                                     const std::string& model) {
    for (const InputFile& file : files) {
        const bool is_known =
            file.input.empty() || std::ranges::any_of(tensors, [&](const InputTensor& tensor) {
                return tensor.name == file.input;
            });
        if (is_known) continue;
        std::vector<std::string> names;
        names.reserve(tensors.size());
        for (const InputTensor& tensor : tensors) names.push_back(in_quotes(tensor.name));
        throw input::InputError(fmt::format("{}={}: {} has no input of that name; there is {}", file.input,
                                            file.content.path.text, model, joined(names)));
    }
    std::vector<NamedImages> inputs;
    input::InputReader reader;
    for (const InputTensor& tensor : tensors) {
        std::vector<Content> of_input;
        std::vector<Content> others;  // for all inputs
        for (const InputFile& file : files) {
            if (file.input == tensor.name) of_input.push_back(file.content);
            if (file.input.empty()) others.push_back(file.content);
        }
        const bool is_only_input = tensors.size() == 1 || !of_input.empty();
        if (tensors.size() == 1 || of_input.empty())
            of_input.insert(of_input.end(), others.begin(), others.end());
        if (of_input.empty()) {
            throw input::InputError(fmt::format("{}: input {} has no file; give --input {}=FILE", model,
                                                in_quotes(tensor.name), tensor.name));
        }
        inputs.push_back(read_images(reader, of_input, tensor, preparation, model, is_only_input));
        check_as_many(inputs.back(), inputs.front());
    }
    return inputs;
}

const NamedImages* first_without_state(const std::vector<NamedImages>& inputs) {
    const auto found = std::ranges::find(inputs, false, &NamedImages::is_state);
    return found == inputs.end() ? nullptr : &*found;
}

void check_as_many(const NamedImages& input, const NamedImages& first) {
    if (input.images.count == first.images.count) return;
    throw input::InputError(fmt::format("{}: there are {} inferences; {} has {}", input.name,
                                        input.images.count, first.name, first.images.count));
}

void keep_first(input::Images& images, std::uint64_t count) {
    if (count >= images.count) return;
    images.count = static_cast<std::uint32_t>(count);
    std::visit([&](auto& values) { values.resize(images.size()); }, images.values);
}

void drop_values(input::Images& images) {
    std::visit([]<class Vector>(Vector& values) { values = Vector(); }, images.values);
}

void check_shape(const NamedImages& named, const ir::FeatureMap& shape, const std::string& model) {
    const input::Images& images = named.images;
    const ir::FeatureMap image{images.height, images.width, images.channels};
    const std::vector<std::uint32_t> given = sides_of(image);
    const std::vector<std::uint32_t> wanted = sides_of(shape);
    const bool is_either_vector = std::min(given.size(), wanted.size()) <= 1;
    if (given == wanted || (is_either_vector && image.elements() == shape.elements())) return;
    throw input::InputError(fmt::format("{}: the images are {}; {} takes {}{}", named.name,
                                        ir::to_text(image), model, ir::to_text(shape),
                                        proposal(images, shape)));
}

double Normalization::real(std::uint32_t pixel, std::size_t channel) const {
    const auto of_channel = [&](const std::vector<double>& numbers, double otherwise) {
        if (numbers.empty()) return otherwise;
        return numbers.size() == 1 ? numbers.front() : numbers.at(channel);
    };
    if (as_stored) return lowest + static_cast<double>(pixel);
    return (pixel * scale - of_channel(mean, 0.0)) / of_channel(deviation, 1.0);
}

void check_normalization(const NamedImages& named, const Normalization& normalization) {
    const input::Images& images = named.images;
    if (normalization.mean.empty() && normalization.deviation.empty()) return;
    if (images.pixels() == nullptr) {
        throw input::InputError(fmt::format(
            "{}: values are {}, which are taken as they are; mean, std and preset are for 8-bit pixels",
            named.name, input::type_in_files(input::type_of(images.values))));
    }
    for (const auto& [key, numbers] :
         {std::pair("mean", &normalization.mean), std::pair("std", &normalization.deviation)}) {
        if (numbers->size() <= 1 || numbers->size() == images.channels) continue;
        throw input::InputError(fmt::format("{}: {} has {}; the images have {}", named.name, key,
                                            counted(numbers->size(), "number"),
                                            counted(images.channels, "channel")));
    }
}

std::vector<float> to_floats(const input::Images& images, std::uint64_t first, std::uint64_t count,
                             const Normalization& normalization) {
    const std::uint64_t begin = first * images.values_per_image();
    const std::uint64_t size = count * images.values_per_image();
    std::vector<float> floats(size);
    if (images.pixels() == nullptr) {
        std::visit(
            [&](const auto& values) {
                std::transform(values.begin() + static_cast<std::ptrdiff_t>(begin),
                               values.begin() + static_cast<std::ptrdiff_t>(begin + size), floats.begin(),
                               [](auto value) { return static_cast<float>(value); });
            },
            images.values);
        return floats;
    }
    const std::vector<std::array<double, 256>> tables = pixel_tables(normalization, images.channels);
    const std::uint8_t* const pixels = std::get<std::vector<std::uint8_t>>(images.values).data() + begin;
    std::size_t channel = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
        floats[i] = static_cast<float>(tables[channel][pixels[i]]);
        if (++channel == tables.size()) channel = 0;
    }
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
            "{}: the largest value is {}; the network expects pixels up to {:.4g}, and floats are taken "
            "as they are (--input-scale is for 8-bit pixels)",
            named.name, *most, highest);
    }
    if (named.images.pixels() == nullptr) return std::nullopt;
    const std::uint8_t most = *std::max_element(named.images.pixels()->begin(), named.images.pixels()->end());
    if (!is_off(most * pixel_scale)) return std::nullopt;
    return fmt::format(
        "{}: the largest 8-bit pixel is {}, which stands for {:.4g}; the network expects up to {:.4g} "
        "(--input-scale is {:.4g})",
        named.name, most, most * pixel_scale, highest, pixel_scale);
}

std::optional<std::string> orientation_warning(const NamedImages& named) {
    const std::uint64_t turned = named.images.turned;
    if (turned == 0) return std::nullopt;
    return fmt::format(
        "{}: the EXIF orientation{} not applied, as Pillow and TensorFlow do not: the network gets the "
        "pixels as "
        "they are stored, which a viewer shows turned or mirrored",
        named.name, turned == 1 ? " is" : fmt::format("s of {} images are", turned));
}

std::optional<std::string> scaled_twice_warning(const NamedImages& named, const Normalization& normalization,
                                                std::string_view layer) {
    if (named.images.pixels() == nullptr) return scale_warning(named, 1.0, most_pixel);
    // Far above what scaled or standardized pixels reach, and far below 255.
    constexpr double far = 16.0;
    bool is_raw = true;
    double lowest = std::numeric_limits<double>::infinity();
    double highest = -lowest;
    for (std::size_t channel = 0; channel < named.images.channels; ++channel) {
        const double first = normalization.real(0, channel);
        const double last = normalization.real(static_cast<std::uint32_t>(most_pixel), channel);
        is_raw = is_raw && std::abs(first) < far && std::abs(last - first) >= far;
        lowest = std::min({lowest, first, last});
        highest = std::max({highest, first, last});
    }
    if (is_raw) return std::nullopt;
    return fmt::format(
        "{}: pixels become numbers from {:.4g} to {:.4g}, and layer {} of the network, which expects 0 to "
        "255, scales them again (--preset raw leaves them as they are)",
        named.name, lowest, highest, in_quotes(layer));
}

std::optional<std::string> storage_warning(const NamedImages& named, const Storage& storage) {
    const std::vector<float>* const floats = named.images.floats();
    if (floats == nullptr) return std::nullopt;
    const double lowest = storage.real(lowest_of(storage.type));
    const double highest = storage.real(highest_of(storage.type));
    std::size_t others = 0;  // than 0
    std::size_t lost = 0;    // of these, those that become 0
    std::size_t outside = 0;
    float farthest = 0.0F;  // of them
    double distance = 0.0;
    for (const float value : *floats) {
        if (value != 0.0F) ++others;
        if (value != 0.0F && std::abs(double{value}) < 0.5 * storage.scale) ++lost;
        const double beyond = std::max(lowest - value, value - highest);
        if (beyond <= 0.5 * storage.scale) continue;
        ++outside;
        if (beyond <= distance) continue;
        distance = beyond;
        farthest = value;
    }
    if (2 * lost > others) {
        return fmt::format(
            "{}: {} of the {} numbers besides 0 become 0, for the input is stored in steps of {:.4g}, "
            "from {:.4g} to {:.4g}",
            named.name, lost, others, storage.scale, lowest, highest);
    }
    constexpr std::size_t noticeable = 100;  // one in so many numbers
    if (noticeable * outside <= floats->size() && distance <= highest - lowest) return std::nullopt;
    return fmt::format(
        "{}: {} of {} numbers are outside of {:.4g} to {:.4g}, in which the input is stored, and become "
        "an end of that; the farthest is {:.4g}",
        named.name, outside, floats->size(), lowest, highest, farthest);
}

std::optional<Storage> storage_of_pixels(const Normalization& normalization) {
    const auto& [scale, mean, deviation, as_stored, lowest] = normalization;
    if (as_stored || mean.size() > 1 || deviation.size() > 1) return std::nullopt;
    const double zero_point = mean.empty() ? 0.0 : mean.front() / scale;
    constexpr double tolerance = 1e-9;
    if (zero_point < 0.0 || zero_point > most_pixel ||
        std::abs(zero_point - std::round(zero_point)) > tolerance) {
        return std::nullopt;
    }
    return Storage{.scale = scale / (deviation.empty() ? 1.0 : deviation.front()),
                   .zero_point = static_cast<std::int32_t>(std::round(zero_point)),
                   .type = DataType::Uint8};
}

bool stored_unchanged(const input::Images& images, const Normalization& normalization,
                      const Storage& storage) {
    if (storage.type == DataType::Float32) return images.floats() != nullptr;
    if (images.floats() != nullptr || images.pixels() == nullptr) return images.floats() == nullptr;
    if (storage.type != DataType::Uint8) return false;
    if (normalization.as_stored) return true;
    // A program file has the exact scale; a run file may round it.
    constexpr double tolerance = 1e-6;
    const std::optional<Storage> own = storage_of_pixels(normalization);
    return own && own->zero_point == storage.zero_point &&
           std::abs(storage.scale - own->scale) <= tolerance * storage.scale;
}

void store(const input::Images& images, const Normalization& normalization, const Storage& storage,
           std::span<std::uint8_t> stored) {
    const std::vector<std::uint32_t>* const words = images.words();
    const std::size_t element_bytes = words != nullptr ? sizeof words->front() : bytes_of(storage.type);
    if (stored.size() != images.size() * element_bytes) {
        throw std::logic_error(fmt::format("the input buffer has {} bytes; the images have {} values",
                                           stored.size(), images.size()));
    }
    if (words != nullptr) {
        std::memcpy(stored.data(), words->data(), stored.size());
        return;
    }
    if (storage.type == DataType::Float32) {
        const std::vector<float> floats = to_floats(images, 0, images.count, normalization);
        std::memcpy(stored.data(), floats.data(), stored.size());
        return;
    }
    auto to = stored.begin();
    const auto put = [&](std::int32_t value) {
        for (std::size_t i = 0; i < element_bytes; ++i) *to++ = static_cast<std::uint8_t>(value >> (8 * i));
    };
    const auto quantized = [&](double real) { return stored_number(real, storage); };
    const auto* const pixels = images.pixels();
    if (pixels == nullptr) {
        const bool is_float = images.floats() != nullptr;
        std::visit(
            [&](const auto& values) {
                for (const auto value : values) {
                    put(is_float ? quantized(static_cast<double>(value)) : static_cast<std::int32_t>(value));
                }
            },
            images.values);
        return;
    }
    if (stored_unchanged(images, normalization, storage)) {
        std::copy(pixels->begin(), pixels->end(), stored.begin());
        return;
    }
    if (normalization.as_stored) {
        for (const std::uint8_t pixel : *pixels) put(lowest_of(storage.type) + pixel);
        return;
    }
    std::vector<std::array<std::int32_t, 256>> tables;
    for (const std::array<double, 256>& reals : pixel_tables(normalization, images.channels)) {
        std::transform(reals.begin(), reals.end(), tables.emplace_back().begin(), quantized);
    }
    std::size_t channel = 0;
    for (const std::uint8_t pixel : *pixels) {
        put(tables[channel][pixel]);
        if (++channel == tables.size()) channel = 0;
    }
}

}  // namespace systole::run
