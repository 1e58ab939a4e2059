#include "sim/run/input/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/message_text.h"

namespace systole::input {
namespace {

/// Fraction bits of a weight: those that leave room for 8 bits of a pixel and the sum in 32 bits, as in
/// Pillow.
constexpr int weight_bits = 32 - 8 - 2;

/// The weights of the pixels from `first` on that make one pixel of the result.
struct Kernel {
    std::uint32_t first = 0;
    std::vector<std::int32_t> weights;
};

/// The kernels of a line of `from` pixels that becomes `to` pixels long.
std::vector<Kernel> kernels_of(std::uint32_t from, std::uint32_t to) {
    const double step = static_cast<double>(from) / to;
    const double support = std::max(step, 1.0);  // of the triangle, in pixels on either side
    std::vector<Kernel> kernels;
    kernels.reserve(to);
    std::vector<double> weights;
    for (std::uint32_t i = 0; i < to; ++i) {
        const double center = (i + 0.5) * step;
        const auto first = static_cast<std::uint32_t>(std::max(0.0, center - support + 0.5));
        const std::uint32_t last =
            std::min(from, static_cast<std::uint32_t>(std::max(0.0, center + support + 0.5)));
        weights.clear();
        double sum = 0.0;
        for (std::uint32_t pixel = first; pixel < last; ++pixel) {
            const double distance = std::abs((pixel - center + 0.5) * (1.0 / support));
            weights.push_back(distance < 1.0 ? 1.0 - distance : 0.0);
            sum += weights.back();
        }
        Kernel kernel{.first = first, .weights = {}};
        for (const double weight : weights) {
            kernel.weights.push_back(
                static_cast<std::int32_t>(std::floor(weight / sum * (1 << weight_bits) + 0.5)));
        }
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

/// One pixel of the result, from pixels `stride` apart.
std::uint8_t filtered(const Kernel& kernel, const std::uint8_t* line, std::size_t stride) {
    std::int32_t sum = 1 << (weight_bits - 1);  // half, for rounding
    const std::uint8_t* pixel = line + kernel.first * stride;
    for (const std::int32_t weight : kernel.weights) {
        sum += *pixel * weight;
        pixel += stride;
    }
    constexpr std::int32_t most = 255;
    return static_cast<std::uint8_t>(std::clamp(sum >> weight_bits, 0, most));
}

/// The pixels of images, one after the other, with rows of another length.
std::vector<std::uint8_t> with_width(const std::vector<std::uint8_t>& pixels, const Images& images,
                                     std::uint32_t width) {
    const std::vector<Kernel> kernels = kernels_of(images.width, width);
    const std::size_t channels = images.channels;
    std::vector<std::uint8_t> result;
    const std::size_t rows = std::size_t{images.count} * images.height;
    result.reserve(rows * width * channels);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::uint8_t* const line = pixels.data() + row * images.width * channels;
        for (const Kernel& kernel : kernels) {
            for (std::size_t channel = 0; channel < channels; ++channel) {
                result.push_back(filtered(kernel, line + channel, channels));
            }
        }
    }
    return result;
}

/// The pixels of images with columns of another length.
std::vector<std::uint8_t> with_height(const std::vector<std::uint8_t>& pixels, const Images& images,
                                      std::uint32_t height) {
    const std::vector<Kernel> kernels = kernels_of(images.height, height);
    const std::size_t row_size = std::size_t{images.width} * images.channels;
    std::vector<std::uint8_t> result;
    result.reserve(std::size_t{images.count} * height * row_size);
    for (std::size_t image = 0; image < images.count; ++image) {
        const std::uint8_t* const first = pixels.data() + image * images.height * row_size;
        for (const Kernel& kernel : kernels) {
            for (std::size_t i = 0; i < row_size; ++i)
                result.push_back(filtered(kernel, first + i, row_size));
        }
    }
    return result;
}

const std::vector<std::uint8_t>& pixels_of(const Images& images, std::string_view change,
                                           std::string_view file) {
    if (images.pixels() == nullptr) {
        throw InputError(fmt::format("{}: values are {}; {} is for 8-bit pixels", file,
                                     type_in_files(type_of(images.values)), change));
    }
    return *images.pixels();
}

/// The size that images get.
run::ImageSize target_of(const Images& images, const run::ImageSize& size) {
    if (size.width > 0) return size;
    const std::uint32_t shorter = std::min(images.height, images.width);
    const std::uint32_t longer = std::max(images.height, images.width);
    const std::uint64_t other = std::uint64_t{longer} * size.height / shorter;
    const auto capped = static_cast<std::uint32_t>(std::min<std::uint64_t>(other, max_input_bytes - 1));
    if (images.height < images.width) return {.height = size.height, .width = capped};
    return {.height = capped, .width = size.height};
}

/// Half of what is left out, rounded to the nearest even number where it is no whole one.
std::uint32_t margin_of(std::uint32_t from, std::uint32_t to) {
    const std::uint32_t left_out = from - to;
    const std::uint32_t half = left_out / 2;
    return left_out % 2 == 1 && half % 2 == 1 ? half + 1 : half;
}

}  // namespace

Images resized(const Images& images, const run::ImageSize& size, std::string_view file) {
    const std::vector<std::uint8_t>& pixels = pixels_of(images, "resize", file);
    const run::ImageSize target = target_of(images, size);
    Images wide = images;  // the intermediate result: its columns still have the old length
    wide.values = std::vector<std::uint8_t>();
    wide.width = target.width;
    checked_size(wide, 1, file);
    Images result = wide;
    result.height = target.height;
    checked_size(result, 1, file);
    std::vector<std::uint8_t> values =
        target.width == images.width ? pixels : with_width(pixels, images, target.width);
    if (target.height != images.height) values = with_height(values, wide, target.height);
    result.values = std::move(values);
    return result;
}

Images cropped(const Images& images, const run::ImageSize& size, std::string_view file) {
    const std::vector<std::uint8_t>& pixels = pixels_of(images, "crop", file);
    const run::ImageSize target{.height = size.height, .width = size.width > 0 ? size.width : size.height};
    if (target.height > images.height || target.width > images.width) {
        throw InputError(fmt::format("{}: the images are {}x{}; crop {}x{} is larger", file, images.height,
                                     images.width, target.height, target.width));
    }
    Images result = images;
    result.height = target.height;
    result.width = target.width;
    const std::uint32_t top = margin_of(images.height, target.height);
    const std::uint32_t left = margin_of(images.width, target.width);
    std::vector<std::uint8_t> values;
    values.reserve(result.size());
    for (std::size_t image = 0; image < images.count; ++image) {
        for (std::size_t row = 0; row < target.height; ++row) {
            const std::size_t place =
                ((image * images.height + top + row) * images.width + left) * images.channels;
            const std::size_t row_size = std::size_t{target.width} * images.channels;
            const auto first = pixels.begin() + static_cast<std::ptrdiff_t>(place);
            values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(row_size));
        }
    }
    result.values = std::move(values);
    return result;
}

void reverse_channels(Images& images, std::string_view file) {
    constexpr std::uint32_t colors = 3;
    if (images.channels != colors) {
        throw InputError(
            fmt::format("{}: the images have {}; bgr needs 3", file, counted(images.channels, "channel")));
    }
    auto* const pixels = std::get_if<std::vector<std::uint8_t>>(&images.values);
    if (pixels == nullptr) {
        throw InputError(fmt::format("{}: values are {}; bgr is for 8-bit pixels", file,
                                     type_in_files(type_of(images.values))));
    }
    for (std::size_t i = 0; i < pixels->size(); i += colors) std::swap((*pixels)[i], (*pixels)[i + 2]);
}

}  // namespace systole::input
