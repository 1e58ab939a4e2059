#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/message_text.h"
#include "hw/math/floats/float_values.h"
#include "sim/run/input/axes.h"
#include "sim/run/input/formats.h"

namespace systole::input {
namespace {

/// The values as 32-bit floats, each of them finite.
template <typename T>
std::vector<float> finite(std::vector<T> values, const std::string& file) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        // Compared before the conversion, which is undefined for values out of range. NaN fails too.
        if (!(std::abs(values[i]) <= static_cast<T>(std::numeric_limits<float>::max()))) {
            throw InputError(
                fmt::format("{}: value {} is {}; it must be finite as a 32-bit float", file, i, values[i]));
        }
    }
    if constexpr (std::is_same_v<T, float>) {
        return values;
    } else {
        return {values.begin(), values.end()};
    }
}

std::vector<float> read_halves(ByteStream& stream, std::uint64_t size) {
    const std::vector<std::uint16_t> bits = stream.read_values<std::uint16_t>(size, "NPY data");
    std::vector<float> values(bits.size());
    std::transform(bits.begin(), bits.end(), values.begin(), math::float_of_float16);
    return finite(std::move(values), stream.file());
}

/// Truth values as the real numbers 0 and 1: as bytes, they would be pixels.
Values read_truths(ByteStream& stream, std::uint64_t size) {
    const std::vector<std::uint8_t> bytes = stream.read_values<std::uint8_t>(size, "NPY data");
    std::vector<float> numbers(bytes.size());
    std::ranges::transform(bytes, numbers.begin(), [](std::uint8_t byte) { return byte == 0 ? 0.0F : 1.0F; });
    return numbers;
}

/// Integers of more values than int32 has, which must be among its values.
template <typename T>
Values read_long_integers(ByteStream& stream, std::uint64_t size) {
    const std::vector<T> values = stream.read_values<T>(size, "NPY data");
    const auto wrong =
        std::ranges::find_if_not(values, [](T value) { return std::in_range<std::int32_t>(value); });
    if (wrong != values.end()) {
        throw InputError(fmt::format("{}: value {} is {}; it must fit in 32 bits", stream.file(),
                                     wrong - values.begin(), *wrong));
    }
    return std::vector<std::int32_t>(values.begin(), values.end());
}

/// A number format of arrays, and its reader.
struct ArrayFormat {
    std::string_view descr;
    std::uint64_t bytes;
    Values (*read)(ByteStream& stream, std::uint64_t size);
};

template <typename T>
Values read_as_is(ByteStream& stream, std::uint64_t size) {
    return stream.read_values<T>(size, "NPY data");
}
template <typename T>
Values read_floats(ByteStream& stream, std::uint64_t size) {
    return finite(stream.read_values<T>(size, "NPY data"), stream.file());
}

constexpr std::array<ArrayFormat, 12> array_formats{{
    {"|u1", 1, read_as_is<std::uint8_t>},
    {"<f4", 4, read_floats<float>},
    {"<f8", 8, read_floats<double>},
    {"<f2", 2, [](ByteStream& stream, std::uint64_t size) { return Values(read_halves(stream, size)); }},
    {"|b1", 1, read_truths},
    {"|i1", 1, read_as_is<std::int8_t>},
    {"<i2", 2, read_as_is<std::int16_t>},
    {"<i4", 4, read_as_is<std::int32_t>},
    {"<u2", 2, read_as_is<std::uint16_t>},
    {"<i8", 8, read_long_integers<std::int64_t>},
    {"<u4", 4, read_long_integers<std::uint32_t>},
    {"<u8", 8, read_long_integers<std::uint64_t>},
}};

template <typename T>
std::vector<std::uint32_t> labels_of(ByteStream& stream, std::uint32_t count) {
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

/// A number format of labels, and its reader.
struct LabelFormat {
    std::string_view descr;
    std::vector<std::uint32_t> (*read)(ByteStream& stream, std::uint32_t count);
};

constexpr std::array<LabelFormat, 8> label_formats{{{"|u1", labels_of<std::uint8_t>},
                                                    {"|i1", labels_of<std::int8_t>},
                                                    {"<i2", labels_of<std::int16_t>},
                                                    {"<u2", labels_of<std::uint16_t>},
                                                    {"<i4", labels_of<std::int32_t>},
                                                    {"<u4", labels_of<std::uint32_t>},
                                                    {"<i8", labels_of<std::int64_t>},
                                                    {"<u8", labels_of<std::uint64_t>}}};

std::uint64_t product(std::span<const std::uint32_t> extents) {
    std::uint64_t product = 1;
    for (const std::uint32_t extent : extents) product *= extent;
    return product;
}

/// Images of height, width and channels; what has more axes is a vector.
Images with_extents(std::uint32_t count, std::span<const std::uint32_t> extents) {
    Images images{.count = count, .height = 1, .width = 1, .channels = 1, .values = {}};
    const std::size_t rank = extents.size();
    if (rank > 3) {
        images.channels = static_cast<std::uint32_t>(product(extents));
        return images;
    }
    if (rank >= 1) images.channels = extents[rank - 1];
    if (rank >= 2) images.width = extents[rank - 2];
    if (rank >= 3) images.height = extents[rank - 3];
    return images;
}

/// The interpretation of a shape as images, which does not depend on the network's file.
Images with_shape(const std::vector<std::uint32_t>& shape, std::optional<std::uint64_t> values,
                  std::string_view file) {
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

/// Moves the axes of each input in the array.
void permute(Values& values, std::uint64_t count, std::span<const std::uint32_t> extents,
             std::span<const std::uint32_t> axes) {
    std::visit([&](auto& numbers) { numbers = permuted(std::move(numbers), count, extents, axes); }, values);
}

Images with_layout(Array array, run::Layout layout, std::string_view file) {
    const std::size_t rank = array.shape.size();
    const bool is_hwc = layout == run::Layout::Hwc;
    if (rank != 3 && rank != 4) {
        throw InputError(fmt::format(
            "{}: shape is {}; layout {} means {} dimensions, or a number of images before them", file,
            shape_text(array.shape), is_hwc ? "hwc" : "chw", is_hwc ? "(H, W, C)" : "(C, H, W)"));
    }
    const std::uint32_t count = rank == 4 ? array.shape.front() : 1;
    const auto extents = std::span<const std::uint32_t>(array.shape).last(3);
    constexpr std::array<std::uint32_t, 3> channels_last{1, 2, 0};
    const auto axes = is_hwc ? std::span<const std::uint32_t>() : std::span(channels_last);
    Images images = with_extents(count, permuted(extents, axes));
    checked_size(images, bytes_of(type_of(array.values)), file);
    permute(array.values, count, extents, axes);
    images.values = std::move(array.values);
    return images;
}

bool is_same_order(std::span<const std::uint32_t> axes) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes[i] != i) return false;
    }
    return true;
}

}  // namespace

std::string shape_text(std::span<const std::uint32_t> shape) {
    return fmt::format("({}{})", joined(shape), shape.size() == 1 ? "," : "");
}

std::optional<std::uint32_t> inputs_in(std::span<const std::uint32_t> array,
                                       std::span<const std::uint32_t> input) {
    if (std::ranges::equal(array, input)) return 1;
    if (array.size() != input.size() + 1 || !std::ranges::equal(array.subspan(1), input)) return std::nullopt;
    return array.front();
}

std::uint64_t checked_elements(const NpyHeader& header, std::uint64_t bytes_per_element,
                               std::string_view file) {
    const std::uint64_t limit = max_input_bytes / bytes_per_element;
    std::uint64_t size = 1;
    // `size` is at most 2^32 before each product, which so does not overflow 64 bits.
    for (const std::uint32_t extent : header.shape) size = size > limit ? size : size * extent;
    if (size <= limit) return size;
    throw InputError(fmt::format("{}: an array of shape {} takes more than {} bytes; that is the limit", file,
                                 shape_text(header.shape), max_input_bytes));
}

Array read_npy_array(ByteStream& stream) {
    NpyHeader header = read_npy_header(stream);
    const auto format = std::ranges::find(array_formats, header.descr, &ArrayFormat::descr);
    if (format == array_formats.end()) {
        throw InputError(
            fmt::format("{}: element type is '{}'; arrays have '|u1' (pixels), '|b1', '<f4', '<f8', '<f2', "
                        "'|i1', '<i2', '<u2', '<i4', '<u4', '<i8' or '<u8'",
                        stream.file(), header.descr));
    }
    const std::uint64_t size = checked_elements(header, format->bytes, stream.file());
    Array array{.name = {}, .shape = std::move(header.shape), .values = {}};
    array.values = format->read(stream, size);
    stream.expect_end("last value");
    if (header.is_column_major)
        std::visit([&](auto& numbers) { numbers = row_major(std::move(numbers), array.shape); },
                   array.values);
    return array;
}

Images images_of(Array array, const ReadOptions& options, std::string_view file) {
    if (options.layout != run::Layout::File) return with_layout(std::move(array), options.layout, file);
    const std::uint64_t bytes_per_value = bytes_of(type_of(array.values));
    const std::vector<std::uint32_t> wanted = permuted(options.shape, options.file_axes);
    const std::optional<std::uint32_t> count =
        options.shape.empty() ? std::nullopt : inputs_in(array.shape, wanted);
    if (count) {
        Images images = with_extents(*count, options.shape);
        checked_size(images, bytes_per_value, file);
        permute(array.values, *count, wanted, inverse(options.file_axes));
        images.values = std::move(array.values);
        return images;
    }
    constexpr std::size_t image_rank = 3;
    if (wanted.size() > image_rank || !is_same_order(options.file_axes)) {
        throw InputError(
            fmt::format("{}: the array's shape is {}; the network's input is {} with or without a number of "
                        "inferences before it (--layout declares images of another order)",
                        file, shape_text(array.shape), shape_text(wanted)));
    }
    std::optional<std::uint64_t> values;
    if (!options.shape.empty()) values = product(options.shape);
    Images images = with_shape(array.shape, values, file);
    checked_size(images, bytes_per_value, file);
    images.values = std::move(array.values);
    return images;
}

Images read_npy_images(ByteStream& stream, const ReadOptions& options) {
    return images_of(read_npy_array(stream), options, stream.file());
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
    const auto format = std::ranges::find(label_formats, header.descr, &LabelFormat::descr);
    if (format == label_formats.end()) {
        throw InputError(
            fmt::format("{}: element type is '{}'; labels are integers: '|u1', '|i1', '<i2', '<u2', '<i4', "
                        "'<u4', '<i8' or '<u8'",
                        stream.file(), header.descr));
    }
    std::vector<std::uint32_t> labels = format->read(stream, count);
    stream.expect_end("last label");
    return labels;
}

}  // namespace systole::input
