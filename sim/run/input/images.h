#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/data_type.h"
#include "base/user_error.h"

namespace systole::input {

/// A file of images or labels cannot be used. The message is one line: file, place, value, rule.
class InputError : public UserError {
public:
    using UserError::UserError;
};

/// The limit on the bytes of one set of images or labels in memory.
inline constexpr std::uint64_t max_input_bytes = std::uint64_t{4} << 30U;

/// The numbers of images or arrays: 8-bit pixels from 0 to 255; finite floats, which are the network's input
/// without scaling; other integers, which are the input as a network on integers stores it; or words of
/// 32 bits, which are elements of any format as machines that compute in floats hold them.
using Values = std::variant<std::vector<std::uint8_t>, std::vector<float>, std::vector<std::int8_t>,
                            std::vector<std::int16_t>, std::vector<std::uint16_t>, std::vector<std::int32_t>,
                            std::vector<std::uint32_t>>;

DataType type_of(const Values& values);

/// The type of numbers in a file, for messages: longer integers become int32 where they are read.
std::string type_in_files(DataType type);

/// A batch of images as the file holds them, packed in N, H, W, C order. Inputs that are no images are
/// vectors here: their values are channels.
struct Images {
    std::uint32_t count = 0;
    std::uint32_t height = 0;
    std::uint32_t width = 0;
    std::uint32_t channels = 0;
    Values values;
    /// Those of the images whose EXIF orientation says that they are to be shown turned or mirrored. The
    /// pixels are as they are stored.
    std::uint64_t turned = 0;

    std::uint64_t values_per_image() const { return std::uint64_t{height} * width * channels; }
    /// The number of values of all images.
    std::uint64_t size() const { return count * values_per_image(); }

    /// The values of one kind, or nullptr if they are of the other kind.
    const std::vector<std::uint8_t>* pixels() const {
        return std::get_if<std::vector<std::uint8_t>>(&values);
    }
    const std::vector<float>* floats() const { return std::get_if<std::vector<float>>(&values); }
    const std::vector<std::uint32_t>* words() const {
        return std::get_if<std::vector<std::uint32_t>>(&values);
    }
};

/// count * height * width * channels of `images`, whose `values` have not been read yet; each takes
/// `bytes_per_value` in the file. Throws InputError, beginning with `file`, if a dimension is 0 or the values
/// take more than `max_input_bytes`.
std::uint64_t checked_size(const Images& images, std::uint64_t bytes_per_value, std::string_view file);

/// Appends the images of `more`, which come from `file`, to `images`. Throws InputError unless both have
/// the same height, width, channels and kind of value, or if the sum is larger than `max_input_bytes`.
void append(Images& images, Images more, std::string_view file);

}  // namespace systole::input
