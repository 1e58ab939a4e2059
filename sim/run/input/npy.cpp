#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "sim/run/input/formats.h"

namespace systole::input {
namespace {

/// The values as 32-bit floats, each of them finite.
template <typename T>
std::vector<float> read_floats(ByteStream& stream, std::uint64_t size) {
    std::vector<T> values = stream.read_values<T>(size, "NPY image data");
    for (std::size_t i = 0; i < values.size(); ++i) {
        // Compared before the conversion, which is undefined for values out of range. NaN fails too.
        if (!(std::abs(values[i]) <= static_cast<T>(std::numeric_limits<float>::max()))) {
            throw InputError(fmt::format("{}: value {} is {}; it must be finite as a 32-bit float",
                                         stream.file(), i, values[i]));
        }
    }
    if constexpr (std::is_same_v<T, float>) return values;
    return {values.begin(), values.end()};
}

template <typename T>
std::vector<std::uint32_t> read_integers(ByteStream& stream, std::uint32_t count) {
    const std::vector<T> values = stream.read_values<T>(count, "NPY label data");
    std::vector<std::uint32_t> labels;
    labels.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::in_range<std::uint32_t>(values[i])) {
            throw InputError(fmt::format("{}: label {} is {}; it must be from 0 to {}", stream.file(), i,
                                         values[i], std::numeric_limits<std::uint32_t>::max()));
        }
        labels.push_back(static_cast<std::uint32_t>(values[i]));
    }
    return labels;
}

Images with_shape(const std::vector<std::uint32_t>& shape, std::optional<std::uint64_t> values,
                  const std::string& file) {
    switch (shape.size()) {
        case 2:
            if (values == shape[1] && values != std::uint64_t{shape[0]} * shape[1]) {
                return {.count = shape[0], .height = 1, .width = shape[1], .channels = 1, .values = {}};
            }
            return {.count = 1, .height = shape[0], .width = shape[1], .channels = 1, .values = {}};
        case 3:
            return {.count = shape[0], .height = shape[1], .width = shape[2], .channels = 1, .values = {}};
        case 4:
            return {
                .count = shape[0], .height = shape[1], .width = shape[2], .channels = shape[3], .values = {}};
        default:
            break;
    }
    throw InputError(
        fmt::format("{}: shape has {} dimensions; images have 2 (H, W), 3 (N, H, W) or 4 (N, H, W, C)", file,
                    shape.size()));
}

}  // namespace

Images read_npy_images(ByteStream& stream, std::optional<std::uint64_t> values) {
    const NpyHeader header = read_npy_header(stream);
    Images images = with_shape(header.shape, values, stream.file());
    if (header.descr == "|u1") {
        const std::uint64_t size = checked_size(images, sizeof(std::uint8_t), stream.file());
        images.values = stream.read_values<std::uint8_t>(size, "NPY image data");
    } else if (header.descr == "<f4") {
        images.values = read_floats<float>(stream, checked_size(images, sizeof(float), stream.file()));
    } else if (header.descr == "<f8") {
        images.values = read_floats<double>(stream, checked_size(images, sizeof(double), stream.file()));
    } else {
        throw InputError(fmt::format("{}: element type is '{}'; images have '|u1', '<f4' or '<f8'",
                                     stream.file(), header.descr));
    }
    stream.expect_end("last image");
    return images;
}

std::vector<std::uint32_t> read_npy_labels(ByteStream& stream) {
    const NpyHeader header = read_npy_header(stream);
    if (header.shape.size() != 1) {
        throw InputError(
            fmt::format("{}: shape has {} dimensions; labels have 1", stream.file(), header.shape.size()));
    }
    const std::uint32_t count = header.shape[0];
    if (count == 0)
        throw InputError(fmt::format("{}: label count is 0; it must be at least 1", stream.file()));
    std::vector<std::uint32_t> labels;
    if (header.descr == "|u1") {
        labels = read_integers<std::uint8_t>(stream, count);
    } else if (header.descr == "<i4") {
        labels = read_integers<std::int32_t>(stream, count);
    } else if (header.descr == "<i8") {
        labels = read_integers<std::int64_t>(stream, count);
    } else {
        throw InputError(fmt::format("{}: element type is '{}'; labels have '|u1', '<i4' or '<i8'",
                                     stream.file(), header.descr));
    }
    stream.expect_end("last label");
    return labels;
}

}  // namespace systole::input
