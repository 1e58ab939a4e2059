#include "compiler/frontend/onnx/tensors.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <type_traits>

#include "base/arithmetic.h"
#include "base/input_file.h"
#include "base/message_text.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::onnx_file {
namespace {

namespace fs = std::filesystem;
using ::onnx::TensorProto;

static_assert(std::endian::native == std::endian::little, "tensors in files are little endian");

// Types that came after version 1.12 of the library.
constexpr std::int32_t uint4_type = 21;
constexpr std::int32_t int4_type = 22;
constexpr std::int32_t first_newer_type = 17;
constexpr std::array<const char*, 10> newer_type_names{
    "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",
    "INT4",         "FLOAT4E2M1",     "FLOAT8E8M0", "UINT2",          "INT2"};

bool is_nibble(std::int32_t type) {
    return type == uint4_type || type == int4_type;
}

std::string type_name(std::int32_t type) {
    const std::int64_t newer = std::int64_t{type} - first_newer_type;
    if (newer >= 0 && newer < std::ssize(newer_type_names)) {
        return newer_type_names[static_cast<std::size_t>(newer)];
    }
    return TensorProto::DataType_IsValid(type)
               ? TensorProto::DataType_Name(static_cast<TensorProto::DataType>(type))
               : fmt::format("number {}", type);
}

/// Bytes of an element in raw or external data.
std::size_t element_bytes(std::int32_t type) {
    switch (type) {
        case TensorProto::UINT8:
        case TensorProto::INT8:
        case TensorProto::BOOL:
            return 1;
        case TensorProto::UINT16:
        case TensorProto::INT16:
        case TensorProto::FLOAT16:
        case TensorProto::BFLOAT16:
            return 2;
        case TensorProto::INT64:
        case TensorProto::UINT64:
        case TensorProto::DOUBLE:
            return 8;
        default:
            return 4;
    }
}

/// Bytes of all elements in raw or external data. Those of 4 bits are two in a byte.
std::uint64_t packed_bytes(std::int32_t type, std::uint64_t elements) {
    return is_nibble(type) ? divide_up(elements, std::uint64_t{2}) : elements * element_bytes(type);
}

struct Extents {
    ir::Shape shape;
    std::uint64_t elements = 1;
};

Extents extents_of(const TensorProto& tensor) {
    std::vector<std::uint32_t> extents;
    if (static_cast<std::size_t>(tensor.dims_size()) > ir::Shape::most_extents) {
        throw ModelError(fmt::format("it has {} dimensions; a tensor has at most {}", tensor.dims_size(),
                                     ir::Shape::most_extents));
    }
    for (const std::int64_t extent : tensor.dims()) {
        if (extent < 0 || extent > std::numeric_limits<std::uint32_t>::max()) {
            throw ModelError(fmt::format("a dimension is {}; it must be 0 to 2^32 - 1", extent));
        }
        extents.push_back(static_cast<std::uint32_t>(extent));
    }
    Extents result{ir::Shape(extents), 0};
    const auto elements = result.shape.checked_elements();
    if (!elements || *elements > ir::maximum_elements) {
        throw ModelError(fmt::format("its shape is {}; a tensor has at most {} elements",
                                     to_text(result.shape), ir::maximum_elements));
    }
    result.elements = *elements;
    return result;
}

/// Where external data lie: `location`, `offset` and `length`.
struct Place {
    std::string location;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> length = {};
};

std::uint64_t as_number(const std::string& key, const std::string& text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw ModelError(
            fmt::format("the {} of its external data is {}; it must be an integer from 0 to 2^64 "
                        "- 1",
                        key, in_quotes(text)));
    }
    return number;
}

Place place_of(const TensorProto& tensor) {
    Place place;
    for (const auto& entry : tensor.external_data()) {
        if (entry.key() == "location") place.location = entry.value();
        if (entry.key() == "offset") place.offset = as_number("offset", entry.value());
        if (entry.key() == "length") place.length = as_number("length", entry.value());
    }
    return place;
}

std::string external_bytes(const TensorProto& tensor, std::uint64_t bytes, const fs::path& folder) {
    const Place place = place_of(tensor);
    const fs::path path = external_path(place.location, folder);
    const auto refuse = [&](const std::string& rule) {
        throw ModelError(fmt::format("its data lie in {}; {}", in_quotes(place.location), rule));
    };
    if (const auto fault = input_fault(path)) refuse(*fault);
    std::error_code error;
    const std::uint64_t size = fs::file_size(path, error);
    if (error) refuse("it cannot be read");
    if (place.length && *place.length != bytes) {
        refuse(fmt::format("their length is {}; its shape and type need {} bytes", *place.length, bytes));
    }
    if (place.offset > size || bytes > size - place.offset) {
        refuse(fmt::format("it has {} bytes; {} are needed from byte {} on", size, bytes, place.offset));
    }
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(place.offset));
    std::string data(bytes, '\0');
    file.read(data.data(), static_cast<std::streamsize>(bytes));
    if (static_cast<std::uint64_t>(file.gcount()) != bytes) refuse("it cannot be read");
    return data;
}

float half_to_float(std::uint16_t bits) {
    constexpr int mantissa_bits = 10;
    constexpr std::uint16_t mantissa_mask = 0x3ff;
    constexpr std::uint16_t exponent_mask = 0x1f;
    constexpr int bias = 15;
    const int exponent = (bits >> mantissa_bits) & exponent_mask;
    const int mantissa = bits & mantissa_mask;
    float magnitude = 0.0F;
    if (exponent == exponent_mask) {
        magnitude =
            mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    } else if (exponent == 0) {
        magnitude = std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits);
    } else {
        magnitude =
            std::ldexp(static_cast<float>(mantissa + (1 << mantissa_bits)), exponent - bias - mantissa_bits);
    }
    return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

float bfloat_to_float(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

/// An integer as int32. Those that mean "to the end", beyond all sizes, become the largest or the smallest.
template <typename Integer>
std::int32_t narrowed(Integer number, std::size_t index) {
    constexpr std::int64_t beyond_all = std::int64_t{1} << 62;
    constexpr auto lowest = std::numeric_limits<std::int32_t>::min();
    constexpr auto highest = std::numeric_limits<std::int32_t>::max();
    if constexpr (std::is_signed_v<Integer>) {
        if (number <= -beyond_all) return lowest;
        if (number >= beyond_all) return highest;
        if (number >= lowest && number <= highest) return static_cast<std::int32_t>(number);
    } else {
        if (number <= static_cast<Integer>(highest)) return static_cast<std::int32_t>(number);
    }
    throw ModelError(fmt::format("its element {} is {}; integers must fit 32 bits", index, number));
}

/// The elements as numbers of a type, from raw bytes.
template <typename Number>
std::vector<Number> raw_numbers(const std::string& raw) {
    std::vector<Number> numbers(raw.size() / sizeof(Number));
    std::memcpy(numbers.data(), raw.data(), numbers.size() * sizeof(Number));
    return numbers;
}

/// Elements from their raw bytes or from a typed field, each converted.
template <typename Stored, typename Field, typename Convert>
auto elements(const std::optional<std::string>& raw, const Field& field, const Convert& convert) {
    std::vector<decltype(convert(Stored{}, std::size_t{}))> result;
    const auto add = [&](const auto& numbers) {
        result.reserve(static_cast<std::size_t>(numbers.size()));
        for (const auto number : numbers) {
            result.push_back(convert(static_cast<Stored>(number), result.size()));
        }
    };
    if (raw) {
        add(raw_numbers<Stored>(*raw));
    } else {
        add(field);
    }
    return ir::Constant::of(std::move(result));
}

/// The elements of 4 bits: the first of two is in the low bits of their byte.
std::vector<std::uint8_t> nibbles(const TensorProto& tensor, const std::optional<std::string>& raw,
                                  std::uint64_t count) {
    constexpr unsigned mask = 0xfU;
    constexpr unsigned bits = 4;
    std::vector<std::uint8_t> numbers;
    numbers.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto place = i / 2;
        const auto byte = raw ? static_cast<unsigned char>((*raw)[place])
                              : static_cast<std::uint8_t>(tensor.int32_data(static_cast<int>(place)));
        numbers.push_back(static_cast<std::uint8_t>((byte >> (i % 2 * bits)) & mask));
    }
    return numbers;
}

/// The same with a sign.
std::vector<std::int8_t> signed_nibbles(const std::vector<std::uint8_t>& numbers) {
    constexpr int half = 8;
    std::vector<std::int8_t> result;
    result.reserve(numbers.size());
    for (const std::uint8_t number : numbers) {
        result.push_back(static_cast<std::int8_t>(number < half ? number : number - 2 * half));
    }
    return result;
}

/// The number of elements that the typed field of the tensor's type has.
std::uint64_t field_elements(const TensorProto& tensor) {
    switch (tensor.data_type()) {
        case TensorProto::FLOAT:
            return static_cast<std::uint64_t>(tensor.float_data_size());
        case TensorProto::DOUBLE:
            return static_cast<std::uint64_t>(tensor.double_data_size());
        case TensorProto::INT64:
            return static_cast<std::uint64_t>(tensor.int64_data_size());
        case TensorProto::UINT32:
        case TensorProto::UINT64:
            return static_cast<std::uint64_t>(tensor.uint64_data_size());
        default:
            return static_cast<std::uint64_t>(tensor.int32_data_size());
    }
}

ir::Constant contents_of(const TensorProto& tensor, const std::optional<std::string>& raw,
                         std::uint64_t count) {
    if (is_nibble(tensor.data_type())) {
        std::vector<std::uint8_t> numbers = nibbles(tensor, raw, count);
        return tensor.data_type() == int4_type ? ir::Constant::of(signed_nibbles(numbers))
                                               : ir::Constant::of(std::move(numbers));
    }
    const auto same = [](auto number, std::size_t) { return number; };
    switch (tensor.data_type()) {
        case TensorProto::FLOAT:
            if (raw) return ir::Constant::of(raw_numbers<float>(*raw));
            return elements<float>(raw, tensor.float_data(), same);
        case TensorProto::DOUBLE:
            return elements<double>(raw, tensor.double_data(),
                                    [](double number, std::size_t) { return static_cast<float>(number); });
        case TensorProto::FLOAT16:
            return elements<std::uint16_t>(raw, tensor.int32_data(), [](std::uint16_t bits, std::size_t) {
                return half_to_float(bits);
            });
        case TensorProto::BFLOAT16:
            return elements<std::uint16_t>(raw, tensor.int32_data(), [](std::uint16_t bits, std::size_t) {
                return bfloat_to_float(bits);
            });
        case TensorProto::BOOL:
            return elements<std::uint8_t>(raw, tensor.int32_data(), [](std::uint8_t number, std::size_t) {
                return static_cast<std::uint8_t>(number != 0);
            });
        case TensorProto::UINT8:
            return elements<std::uint8_t>(raw, tensor.int32_data(), same);
        case TensorProto::INT8:
            return elements<std::int8_t>(raw, tensor.int32_data(), same);
        case TensorProto::INT16:
            return elements<std::int16_t>(raw, tensor.int32_data(), same);
        case TensorProto::UINT16:
            return elements<std::uint16_t>(raw, tensor.int32_data(), same);
        case TensorProto::INT32:
            return elements<std::int32_t>(raw, tensor.int32_data(), same);
        case TensorProto::INT64:
            return elements<std::int64_t>(raw, tensor.int64_data(), narrowed<std::int64_t>);
        case TensorProto::UINT32:
            return elements<std::uint32_t>(raw, tensor.uint64_data(), narrowed<std::uint32_t>);
        default:
            return elements<std::uint64_t>(raw, tensor.uint64_data(), narrowed<std::uint64_t>);
    }
}

/// The type in which the graph holds a constant.
DataType constant_type(std::int32_t onnx_type) {
    if (onnx_type == uint4_type) return DataType::Uint8;
    if (onnx_type == int4_type) return DataType::Int8;
    return graph_type(onnx_type);
}

}  // namespace

fs::path external_path(const std::string& location, const fs::path& folder) {
    const auto refuse = [&](std::string_view rule) {
        throw ModelError(fmt::format("its data lie in {}; {}", in_quotes(location), rule));
    };
    const fs::path relative(location);
    if (location.empty() || location.find('\0') != std::string::npos) refuse("it must be the path of a file");
    if (relative.is_absolute()) refuse("it must be a path inside the model's folder");
    for (const fs::path& part : relative) {
        if (part == "..") refuse("it must be a path inside the model's folder");
    }
    std::error_code error;
    const fs::path real_folder = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
    if (error) refuse("the model's folder cannot be read");
    fs::path path = fs::canonical(real_folder / relative, error);
    if (error) refuse("there is no such file in the model's folder");
    const auto [end, rest] = std::mismatch(real_folder.begin(), real_folder.end(), path.begin(), path.end());
    if (end != real_folder.end()) refuse("it leads out of the model's folder");
    return path;
}

DataType graph_type(std::int32_t onnx_type) {
    switch (onnx_type) {
        case TensorProto::FLOAT:
        case TensorProto::DOUBLE:
        case TensorProto::FLOAT16:
        case TensorProto::BFLOAT16:
            return DataType::Float32;
        case TensorProto::BOOL:
        case TensorProto::UINT8:
            return DataType::Uint8;
        case TensorProto::INT8:
            return DataType::Int8;
        case TensorProto::INT16:
            return DataType::Int16;
        case TensorProto::UINT16:
            return DataType::Uint16;
        case TensorProto::INT32:
        case TensorProto::INT64:
        case TensorProto::UINT32:
        case TensorProto::UINT64:
            return DataType::Int32;
        default:
            throw ModelError(fmt::format(
                "its type is {}; it must be of integers of 8 to 64 bits, bool, "
                "float16, bfloat16, float or double{}",
                type_name(onnx_type), is_nibble(onnx_type) ? "; only constants may be of 4 bits" : ""));
    }
}

std::optional<Tensor> take_tensor(TensorProto& tensor, const fs::path& folder) {
    const std::int32_t type = tensor.data_type();
    Tensor result{.shape = {}, .type = constant_type(type), .contents = {}, .has_nibbles = is_nibble(type)};
    const Extents extents = extents_of(tensor);
    if (extents.elements == 0) return std::nullopt;
    result.shape = extents.shape;
    if (tensor.has_segment()) throw ModelError("it is a segment of a tensor, which is not supported");
    // At most 2^31 bytes, because the number of elements is limited.
    const std::uint64_t bytes = packed_bytes(type, extents.elements);
    std::optional<std::string> raw;
    if (tensor.data_location() == TensorProto::EXTERNAL) {
        raw = external_bytes(tensor, bytes, folder);
    } else if (tensor.has_raw_data()) {
        raw = std::move(*tensor.mutable_raw_data());
        if (raw->size() != bytes) {
            throw ModelError(fmt::format("it has {} bytes; its shape and type need {}", raw->size(), bytes));
        }
    } else if (const std::uint64_t needed = is_nibble(type) ? bytes : extents.elements;
               field_elements(tensor) != needed) {
        throw ModelError(fmt::format("it has {} elements; its shape {} needs {}", field_elements(tensor),
                                     to_text(extents.shape), needed));
    }
    result.contents = contents_of(tensor, raw, extents.elements);
    tensor.Clear();
    return result;
}

}  // namespace systole::frontend::onnx_file
