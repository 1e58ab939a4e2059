#include "sim/run/input/array_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/input_file.h"
#include "base/message_text.h"
#include "hw/math/floats/float_values.h"
#include "sim/run/input/axes.h"
#include "sim/run/input/formats.h"

namespace systole::input {
namespace {

/// The numbers of a format of whole numbers or truth values.
struct WholeNumbers {
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
};

std::optional<WholeNumbers> whole_numbers(DataType type) {
    if (type == DataType::Bool) return WholeNumbers{0, 1};
    if (type == DataType::Uint32) return WholeNumbers{0, std::numeric_limits<std::uint32_t>::max()};
    if (is_integer(type)) return WholeNumbers{lowest_of(type), highest_of(type)};
    return std::nullopt;
}

/// The word of a float32 in a format of floats; absent if the format does not hold it. There is one NaN.
std::optional<std::uint32_t> float_word(float number, DataType type) {
    constexpr std::uint32_t below_bfloat16 = 0xFFFF;
    if (std::isnan(number)) return math::float_nan_bits;
    const auto word = std::bit_cast<std::uint32_t>(number);
    if (type == DataType::Bfloat16 && (word & below_bfloat16) != 0) return std::nullopt;
    if (type == DataType::Float16 && math::rounded_to_float16(number) != number) return std::nullopt;
    return word;
}

template <std::floating_point Number>
std::optional<float> exact_float(Number number) {
    // Compared before the conversion, which is undefined for numbers out of range.
    if (std::isfinite(number) && std::abs(number) > Number{std::numeric_limits<float>::max()})
        return std::nullopt;
    const auto single = static_cast<float>(number);
    if (!std::isnan(number) && Number{single} != number) return std::nullopt;
    return single;
}

template <std::integral Number>
std::optional<float> exact_float(Number number) {
    constexpr int significant_bits = std::numeric_limits<float>::digits;
    const auto bits = static_cast<std::uint64_t>(number);
    const std::uint64_t size = std::cmp_less(number, 0) ? 0 - bits : bits;
    if (size != 0 && size >> std::countr_zero(size) >> significant_bits != 0) return std::nullopt;
    return static_cast<float>(number);
}

/// The word of a number; absent if the format does not hold it.
template <typename Number>
std::optional<std::uint32_t> word_of(Number number, DataType type) {
    if (const auto range = whole_numbers(type)) {
        if constexpr (std::floating_point<Number>) {
            // The limits are float64; NaN is not between them.
            const double real = number;
            const bool is_held = real >= static_cast<double>(range->lowest) &&
                                 real <= static_cast<double>(range->highest) && std::trunc(real) == real;
            if (!is_held) return std::nullopt;
        } else if (std::cmp_less(number, range->lowest) || std::cmp_less(range->highest, number)) {
            return std::nullopt;
        }
        return static_cast<std::uint32_t>(static_cast<std::int64_t>(number));
    }
    const std::optional<float> single = exact_float(number);
    return single ? float_word(*single, type) : std::nullopt;
}

/// "(0, 3)": the place of an element, counted in row-major order.
std::string index_text(std::uint64_t element, std::span<const std::uint32_t> shape) {
    std::vector<std::uint32_t> index(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0; element /= shape[axis]) {
        index[axis] = static_cast<std::uint32_t>(element % shape[axis]);
    }
    return shape_text(index);
}

template <typename Number>
[[noreturn]] void fail_number(std::string_view file, std::string_view index, Number number,
                              const WordInput& input) {
    throw InputError(fmt::format("{}: element {} is {}; input {} takes {}", file, index, number,
                                 in_quotes(input.name), numbers_text(input.type)));
}

template <typename T>
T as_it_is(T number) {
    return number;
}
float float_of_bfloat16_bits(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

/// The words of elements that the file stores as T, each of which `number_of` makes a number.
template <typename T, auto number_of>
std::vector<std::uint32_t> words_of(ByteStream& stream, const NpyHeader& header, std::uint64_t size,
                                    const WordInput& input) {
    std::vector<T> stored = stream.read_values<T>(size, "NPY data");
    if (header.is_column_major) stored = row_major(std::move(stored), header.shape);
    std::vector<std::uint32_t> words;
    words.reserve(stored.size());
    for (const T each : stored) {
        const auto number = number_of(each);
        const std::optional<std::uint32_t> word = word_of(number, input.type);
        if (!word) fail_number(stream.file(), index_text(words.size(), header.shape), number, input);
        words.push_back(*word);
    }
    return words;
}

using ReadWords = std::vector<std::uint32_t> (*)(ByteStream& stream, const NpyHeader& header,
                                                 std::uint64_t size, const WordInput& input);

/// A number format of files, and its reader.
struct WordFormat {
    std::string_view descr;
    std::uint64_t bytes;
    ReadWords read;
};

template <typename T>
constexpr ReadWords plain_words = words_of<T, as_it_is<T>>;
constexpr ReadWords bfloat16_words = words_of<std::uint16_t, float_of_bfloat16_bits>;

std::vector<std::uint32_t> uint16_words(ByteStream& stream, const NpyHeader& header, std::uint64_t size,
                                        const WordInput& input) {
    const ReadWords read = input.type == DataType::Bfloat16 ? bfloat16_words : plain_words<std::uint16_t>;
    return read(stream, header, size, input);
}

constexpr std::array<WordFormat, 14> word_formats{{
    {"|b1", 1, plain_words<std::uint8_t>},
    {"|i1", 1, plain_words<std::int8_t>},
    {"|u1", 1, plain_words<std::uint8_t>},
    {"<i2", 2, plain_words<std::int16_t>},
    {"<u2", 2, uint16_words},
    {"<i4", 4, plain_words<std::int32_t>},
    {"<u4", 4, plain_words<std::uint32_t>},
    {"<i8", 8, plain_words<std::int64_t>},
    {"<u8", 8, plain_words<std::uint64_t>},
    {"<f2", 2, words_of<std::uint16_t, math::float_of_float16>},
    {"<f4", 4, plain_words<float>},
    {"<f8", 8, plain_words<double>},
    // Bytes without a meaning of their own; newer versions of NumPy write the second.
    {"|V2", 2, bfloat16_words},
    {"<V2", 2, bfloat16_words},
}};

std::string_view text_of(std::span<const std::uint8_t> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::optional<std::uint32_t> exact_word(double number, DataType type) {
    return word_of(number, type);
}

std::optional<std::uint32_t> rounded_word(double number, DataType type) {
    auto rounded = static_cast<float>(number);
    if (type == DataType::Bfloat16) rounded = math::rounded_to_bfloat16(rounded);
    if (type == DataType::Float16) rounded = math::rounded_to_float16(rounded);
    if (!std::isfinite(rounded)) return std::nullopt;
    return std::bit_cast<std::uint32_t>(rounded);
}

std::string numbers_text(DataType type) {
    if (const auto range = whole_numbers(type)) {
        return fmt::format("{}, whose numbers are whole, from {} to {}", name_of(type), range->lowest,
                           range->highest);
    }
    return fmt::format("{}, which does not hold this number exactly (NumPy's astype rounds)", name_of(type));
}

WordArray read_npy_words(ByteStream& stream, const WordInput& input) {
    const NpyHeader header = read_npy_header(stream);
    const auto format = std::ranges::find(word_formats, header.descr, &WordFormat::descr);
    if (format == word_formats.end()) {
        throw InputError(
            fmt::format("{}: element type is '{}'; arrays have bool, integers of 8 to 64 bits, floats of 16 "
                        "to 64 bits, or bfloat16 of ml_dtypes ('<V2')",
                        stream.file(), header.descr));
    }
    const std::uint64_t size = checked_elements(header, format->bytes, stream.file());
    WordArray array{.shape = header.shape, .words = format->read(stream, header, size, input)};
    stream.expect_end("last value");
    return array;
}

ArrayFile::ArrayFile(const std::filesystem::path& path)
    : path_(path.string()),
      bytes_(read_input_file<InputError, std::vector<std::uint8_t>>(path, max_input_bytes)) {
    if (!is_zip(text_of(bytes_))) {
        ByteStream stream(bytes_, path_);
        if (is_npy(stream)) return;
        throw InputError(fmt::format(
            "{}: the first bytes are not those of an NPY or NPZ file; the network's inputs are arrays",
            path_));
    }
    try {
        archive_.emplace(text_of(bytes_));
    } catch (const ZipError& error) {
        throw InputError(fmt::format("{}: {}", path_, error.what()));
    }
    names_ = array_names(*archive_, path_);
}

std::string ArrayFile::place_of(const std::string& name) const {
    return is_archive() ? fmt::format("{}: array {}", path_, in_quotes(name)) : path_;
}

template <typename Read>
auto ArrayFile::read_with(const std::string& name, const Read& read) const {
    const auto read_stream = [&](std::span<const std::uint8_t> bytes) {
        ByteStream stream(bytes, place_of(name));
        return read(stream);
    };
    if (!archive_) return read_stream(bytes_);
    std::string contents;
    try {
        contents = archive_->read(name + std::string(npy_extension), {.most_bytes = max_input_bytes});
    } catch (const ZipError& error) {
        throw InputError(fmt::format("{}: {}", path_, error.what()));
    }
    return read_stream({reinterpret_cast<const std::uint8_t*>(contents.data()), contents.size()});
}

WordArray ArrayFile::read(const std::string& name, const WordInput& input) const {
    return read_with(name, [&](ByteStream& stream) { return read_npy_words(stream, input); });
}

std::vector<std::uint32_t> ArrayFile::shape(const std::string& name) const {
    return read_with(name, [](ByteStream& stream) { return read_npy_header(stream).shape; });
}

}  // namespace systole::input
