#include "sim/run/input/images.h"

#include <fmt/format.h>

#include <array>
#include <type_traits>
#include <utility>

namespace systole::input {
namespace {

std::string kind(const Images& images) {
    if (images.pixels() != nullptr) return "8-bit";
    return images.floats() != nullptr ? "float" : type_in_files(type_of(images.values));
}

}  // namespace

DataType type_of(const Values& values) {
    constexpr std::array types{DataType::Uint8,  DataType::Float32, DataType::Int8,  DataType::Int16,
                               DataType::Uint16, DataType::Int32,   DataType::Uint32};
    static_assert(types.size() == std::variant_size_v<Values>);
    return types.at(values.index());
}

std::string type_in_files(DataType type) {
    return type == DataType::Int32 ? "int32 or int64" : std::string(name_of(type));
}

std::uint64_t checked_size(const Images& images, std::uint64_t bytes_per_value, std::string_view file) {
    const std::array<std::pair<std::string_view, std::uint32_t>, 4> dimensions{
        {{"image count", images.count},
         {"height", images.height},
         {"width", images.width},
         {"channel count", images.channels}}};
    const std::uint64_t limit = max_input_bytes / bytes_per_value;
    std::uint64_t size = 1;
    for (const auto& [what, extent] : dimensions) {
        if (extent == 0) throw InputError(fmt::format("{}: {} is 0; it must be at least 1", file, what));
        // `size` is at most 2^32 here, so the product does not overflow 64 bits.
        size = size > limit ? size : size * extent;
    }
    if (size > limit) {
        throw InputError(fmt::format("{}: {} images of {}x{}x{} take more than {} bytes; that is the limit",
                                     file, images.count, images.height, images.width, images.channels,
                                     max_input_bytes));
    }
    return size;
}

void append(Images& images, Images more, std::string_view file) {
    if (more.height != images.height || more.width != images.width || more.channels != images.channels) {
        throw InputError(fmt::format("{}: images are {}x{}x{}; those before it are {}x{}x{}", file,
                                     more.height, more.width, more.channels, images.height, images.width,
                                     images.channels));
    }
    if (more.values.index() != images.values.index()) {
        throw InputError(fmt::format("{}: values are {}; those of the files before it are {}", file,
                                     kind(more), kind(images)));
    }
    const std::uint64_t bytes_per_value = systole::bytes_of(type_of(images.values));
    const std::uint64_t bytes = (images.size() + more.size()) * bytes_per_value;
    if (bytes > max_input_bytes) {
        throw InputError(fmt::format("{}: all images up to this file take {} bytes; the limit is {}", file,
                                     bytes, max_input_bytes));
    }
    std::visit(
        [&](auto& values) {
            const auto& added = std::get<std::remove_reference_t<decltype(values)>>(more.values);
            values.insert(values.end(), added.begin(), added.end());
        },
        images.values);
    images.count += more.count;
    images.turned += more.turned;
}

}  // namespace systole::input
