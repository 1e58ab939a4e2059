#include "compiler/frontend/tflite/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/arithmetic.h"
#include "base/message_text.h"
#include "compiler/frontend/tflite/options.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::tflite {
namespace {

std::string name_of_type(TensorType type) {
    const auto number = static_cast<std::int64_t>(type);
    const std::string_view name = name_in("TensorType", number);
    return name.empty() ? fmt::format("number {}, which is none of the format", number) : std::string(name);
}

DataType graph_type(TensorType type) {
    switch (type) {
        case TensorType::FLOAT32:
        case TensorType::FLOAT16:
        case TensorType::BFLOAT16:
        case TensorType::FLOAT64:
            return DataType::Float32;
        case TensorType::INT32:
        case TensorType::INT64:
        case TensorType::UINT32:
            return DataType::Int32;
        case TensorType::UINT8:
        case TensorType::BOOL:
            return DataType::Uint8;
        case TensorType::INT8:
        case TensorType::INT4:
            return DataType::Int8;
        case TensorType::INT16:
            return DataType::Int16;
        case TensorType::UINT16:
            return DataType::Uint16;
        default:
            throw ModelError(fmt::format("its type is {}; that is not supported", name_of_type(type)));
    }
}

std::uint64_t bits_of(TensorType type) {
    constexpr std::uint64_t byte_bits = 8;
    switch (type) {
        case TensorType::INT4:
            return 4;
        case TensorType::FLOAT64:
        case TensorType::INT64:
            return 8 * byte_bits;
        case TensorType::FLOAT16:
        case TensorType::BFLOAT16:
            return 2 * byte_bits;
        default:
            return byte_bits * bytes_of(graph_type(type));
    }
}

float float_of_half(std::uint16_t half) {
    constexpr std::uint32_t exponent_mask = 0x1f;
    constexpr std::uint32_t fraction_mask = 0x3ff;
    const std::uint32_t exponent = (half >> 10U) & exponent_mask;
    const std::uint32_t fraction = half & fraction_mask;
    const float sign = (half >> 15U) != 0 ? -1.0F : 1.0F;
    if (exponent == exponent_mask) {
        return sign * (fraction == 0 ? std::numeric_limits<float>::infinity()
                                     : std::numeric_limits<float>::quiet_NaN());
    }
    constexpr int bias = 15;
    constexpr int fraction_bits = 10;
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), 1 - bias - fraction_bits);
    return sign * std::ldexp(static_cast<float>(fraction | (fraction_mask + 1)),
                             static_cast<int>(exponent) - bias - fraction_bits);
}

float float_of_bfloat(std::uint16_t number) {
    return std::bit_cast<float>(std::uint32_t{number} << 16U);
}

std::int32_t int32_of(std::int64_t number) {
    // The ends of slices are "as far as there is something".
    if (number == std::numeric_limits<std::int64_t>::max()) return std::numeric_limits<std::int32_t>::max();
    if (number == std::numeric_limits<std::int64_t>::min()) return std::numeric_limits<std::int32_t>::min();
    if (number != static_cast<std::int32_t>(number)) {
        throw ModelError(fmt::format("it holds {}; integers must fit in 32 bits", number));
    }
    return static_cast<std::int32_t>(number);
}

/// The numbers, each converted. The bytes may be at any alignment.
template <typename From, typename To, typename Convert>
ir::Constant converted(std::span<const std::uint8_t> data, const Convert& convert) {
    std::vector<To> numbers(data.size() / sizeof(From));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        From number{};
        std::memcpy(&number, data.data() + i * sizeof(From), sizeof(From));
        numbers[i] = convert(number);
    }
    return ir::Constant::of(std::move(numbers));
}

template <typename Number>
ir::Constant copied(std::span<const std::uint8_t> data) {
    return converted<Number, Number>(data, [](Number number) { return number; });
}

/// Numbers of 4 bits in two's complement, the first of a byte in its low half.
ir::Constant unpacked(std::span<const std::uint8_t> data, std::uint64_t elements) {
    std::vector<std::int8_t> numbers(elements);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto high = static_cast<std::uint8_t>(i % 2 == 0 ? data[i / 2] << 4U : data[i / 2]);
        numbers[i] = static_cast<std::int8_t>(static_cast<std::int8_t>(high) >> 4);
    }
    return ir::Constant::of(std::move(numbers));
}

/// The runtime also multiplies by the reciprocal, in float32.
bool is_scale(float scale) {
    return std::isfinite(scale) && scale > 0.0F && std::isfinite(1.0F / scale);
}

void check_scale(float scale) {
    if (!is_scale(scale)) {
        throw ModelError(
            fmt::format("a scale is {}; it must be above 0 and finite, and so must 1 / scale", scale));
    }
}

std::optional<ir::Quantization> quantization_of(const Tensor& tensor, DataType type) {
    const QuantizationParameters* const given = tensor.quantization();
    if (given == nullptr) return std::nullopt;
    if (given->details_type() != 0) {
        throw ModelError("its quantization is not by scales and zero points; no other is supported");
    }
    if (given->scale() == nullptr || given->scale()->size() == 0 || !is_integer(type)) return std::nullopt;
    ir::Quantization quantization;
    const std::size_t count = given->scale()->size();
    const std::size_t zero_points = given->zero_point() == nullptr ? 0 : given->zero_point()->size();
    if (zero_points != 0 && zero_points != count) {
        throw ModelError(
            fmt::format("it has {} scales and {} zero points; it must have as many", count, zero_points));
    }
    for (const float scale : *given->scale()) {
        // Nothing reads the scales of biases; some converters leave them infinite.
        if (type == DataType::Int32 && !is_scale(scale)) return std::nullopt;
        check_scale(scale);
        quantization.scales.push_back(double{scale});
    }
    quantization.zero_points.assign(count, 0);
    for (std::size_t i = 0; i < zero_points; ++i) {
        // The verifier does not check that these numbers are aligned.
        std::int64_t zero_point = 0;
        std::memcpy(&zero_point, given->zero_point()->Data() + i * sizeof zero_point, sizeof zero_point);
        if (zero_point < lowest_of(type) || zero_point > highest_of(type)) {
            throw ModelError(fmt::format("a zero point is {}; it must be a number of its type, {} to {}",
                                         zero_point, lowest_of(type), highest_of(type)));
        }
        quantization.zero_points[i] = static_cast<std::int32_t>(zero_point);
    }
    if (count == 1) return quantization;
    const std::int32_t axis = given->quantized_dimension();
    const ir::Shape shape = shape_of(tensor);
    if (axis < 0 || static_cast<std::size_t>(axis) >= shape.rank() ||
        shape[static_cast<std::size_t>(axis)] != count) {
        throw ModelError(fmt::format("it has {} scales along axis {} of {}; it must have one for each index",
                                     count, axis, ir::to_text(shape)));
    }
    quantization.axis = static_cast<std::uint32_t>(axis);
    return quantization;
}

}  // namespace

File::File(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    // Files that are larger have their data behind the tables, which the offsets of 32 bits reach.
    const std::size_t tables = std::min<std::size_t>(bytes.size(), std::numeric_limits<std::int32_t>::max());
    constexpr std::size_t least_bytes = 8;
    constexpr std::size_t most_depth = 16;
    constexpr std::size_t most_tables = 10'000'000;
    flatbuffers::Verifier verifier(bytes.data(), tables, most_depth, most_tables);
    if (bytes.size() < least_bytes || !VerifyModelBuffer(verifier)) {
        throw ModelError("it is damaged: its tables do not fit the format or leave the file");
    }
    model_ = GetModel(bytes.data());
    constexpr std::uint32_t only_version = 3;
    if (model_->version() != only_version) {
        throw ModelError(fmt::format("its version is {}; it must be {}", model_->version(), only_version));
    }
}

const SubGraph& File::network() const {
    const auto* const subgraphs = model_->subgraphs();
    if (subgraphs == nullptr || network_ >= subgraphs->size()) {
        throw ModelError("it has no subgraph, which is the network");
    }
    return *subgraphs->Get(network_);
}

std::size_t File::tensor_count() const {
    return network().tensors() == nullptr ? 0 : network().tensors()->size();
}

const Tensor& File::tensor(std::int64_t number) const {
    if (number < 0 || static_cast<std::uint64_t>(number) >= tensor_count()) {
        throw ModelError(fmt::format("tensor {} is not one of the {} of the file", number, tensor_count()));
    }
    return *network().tensors()->Get(static_cast<std::uint32_t>(number));
}

std::string File::name_of(std::int64_t number) const {
    const auto* const name = tensor(number).name();
    if (name == nullptr || name->size() == 0) return fmt::format("tensor {}", number);
    return name->str();
}

std::span<const std::uint8_t> File::data_of(const Tensor& tensor) const {
    if (tensor.external_buffer() != 0) throw ModelError("its data is in another file; that is not supported");
    const auto* const buffers = model_->buffers();
    const std::size_t count = buffers == nullptr ? 0 : buffers->size();
    if (tensor.buffer() >= count) {
        if (tensor.buffer() == 0) return {};
        throw ModelError(fmt::format("its buffer is {}; the file has {}", tensor.buffer(), count));
    }
    const Buffer& buffer = *buffers->Get(tensor.buffer());
    if (buffer.offset() > 1) {
        if (buffer.offset() > bytes_.size() || buffer.size() > bytes_.size() - buffer.offset()) {
            throw ModelError(fmt::format("its data has {} bytes from byte {}; the file has {}", buffer.size(),
                                         buffer.offset(), bytes_.size()));
        }
        return bytes_.subspan(buffer.offset(), buffer.size());
    }
    if (buffer.data() == nullptr) return {};
    return {buffer.data()->data(), buffer.data()->size()};
}

std::string File::operator_of(const Operator& node) const {
    const auto* const codes = model_->operator_codes();
    const std::size_t count = codes == nullptr ? 0 : codes->size();
    if (node.opcode_index() >= count) {
        throw ModelError(
            fmt::format("its operator is number {}; the file has {}", node.opcode_index(), count));
    }
    const OperatorCode& code = *codes->Get(node.opcode_index());
    // Files from before version 3a have the first 127 operators in a field of one byte alone.
    const auto number = std::max(static_cast<std::int64_t>(code.builtin_code()),
                                 std::int64_t{code.deprecated_builtin_code()});
    if (number == static_cast<std::int64_t>(BuiltinOperator::CUSTOM)) {
        const auto* const name = code.custom_code();
        throw ModelError(
            fmt::format("its operator is the custom operator {}; no custom operator is supported",
                        in_quotes(name == nullptr ? "" : name->string_view())));
    }
    const std::string_view name = name_in("BuiltinOperator", number);
    if (name.empty()) throw ModelError(fmt::format("its operator is {}; the format has no such one", number));
    return std::string(name);
}

ir::ResultType type_of(const Tensor& tensor) {
    const DataType type = graph_type(tensor.type());
    return {type, quantization_of(tensor, type)};
}

ir::Shape shape_of(const Tensor& tensor) {
    if (tensor.sparsity() != nullptr) throw ModelError("it is sparse; that is not supported");
    std::vector<std::uint32_t> extents;
    if (tensor.shape() != nullptr) {
        for (const std::int32_t extent : *tensor.shape()) {
            if (extent < 1) {
                throw ModelError(fmt::format("an extent of its shape is {}; it must be at least 1", extent));
            }
            extents.push_back(static_cast<std::uint32_t>(extent));
        }
    }
    ir::Shape shape(extents);
    check_elements(shape);
    return shape;
}

void check_elements(const ir::Shape& shape) {
    const auto elements = shape.checked_elements();
    if (elements && *elements <= ir::maximum_elements) return;
    throw ModelError(fmt::format("its shape is {}; a tensor has at most {} elements", ir::to_text(shape),
                                 ir::maximum_elements));
}

bool has_open_shape(const Tensor& tensor) {
    // Writers leave out shapes that the runtime finds by itself.
    if (tensor.shape() == nullptr || tensor.shape()->size() == 0) return true;
    if (tensor.shape_signature() == nullptr) return false;
    const auto& signature = *tensor.shape_signature();
    return std::any_of(signature.begin(), signature.end(), [](std::int32_t extent) { return extent < 0; });
}

std::vector<std::optional<std::uint32_t>> input_extents_of(const Tensor& tensor) {
    if (tensor.sparsity() != nullptr) throw ModelError("it is sparse; that is not supported");
    std::vector<std::optional<std::uint32_t>> extents;
    if (tensor.shape() == nullptr) return extents;
    const auto* const signature = tensor.shape_signature();
    const bool has_signature = signature != nullptr && signature->size() == tensor.shape()->size();
    for (std::uint32_t axis = 0; axis < tensor.shape()->size(); ++axis) {
        const std::int32_t extent = tensor.shape()->Get(axis);
        // Converters write 1 for what is open.
        const bool is_open = extent < 0 || (extent == 1 && has_signature && signature->Get(axis) < 0);
        if (extent == 0 || (extent < 0 && !has_signature)) {
            throw ModelError(fmt::format("an extent of its shape is {}; it must be at least 1", extent));
        }
        extents.push_back(is_open ? std::nullopt : std::optional(static_cast<std::uint32_t>(extent)));
    }
    if (extents.size() > ir::Shape::most_extents) {
        throw ModelError(fmt::format("it has {} dimensions; it may have at most {}", extents.size(),
                                     ir::Shape::most_extents));
    }
    return extents;
}

ir::Constant constant_of(const Tensor& tensor, std::span<const std::uint8_t> data) {
    constexpr std::uint64_t byte_bits = 8;
    const std::uint64_t elements = shape_of(tensor).elements();
    const std::uint64_t bytes = divide_up(elements * bits_of(tensor.type()), byte_bits);
    if (data.size() != bytes) {
        throw ModelError(fmt::format("it has {} bytes; {} of {} has {}", data.size(),
                                     ir::to_text(shape_of(tensor)), name_of_type(tensor.type()), bytes));
    }
    switch (tensor.type()) {
        case TensorType::FLOAT32:
            return copied<float>(data);
        case TensorType::FLOAT16:
            return converted<std::uint16_t, float>(data, float_of_half);
        case TensorType::BFLOAT16:
            return converted<std::uint16_t, float>(data, float_of_bfloat);
        case TensorType::FLOAT64:
            return converted<double, float>(data, [](double number) { return static_cast<float>(number); });
        case TensorType::INT32:
            return copied<std::int32_t>(data);
        case TensorType::INT64:
            return converted<std::int64_t, std::int32_t>(data, int32_of);
        case TensorType::UINT32:
            return converted<std::uint32_t, std::int32_t>(
                data, [](std::uint32_t number) { return int32_of(std::int64_t{number}); });
        case TensorType::UINT8:
        case TensorType::BOOL:
            return copied<std::uint8_t>(data);
        case TensorType::INT8:
            return copied<std::int8_t>(data);
        case TensorType::INT4:
            return unpacked(data, elements);
        case TensorType::INT16:
            return copied<std::int16_t>(data);
        case TensorType::UINT16:
            return copied<std::uint16_t>(data);
        default:
            throw ModelError(
                fmt::format("its type is {}; that is not supported", name_of_type(tensor.type())));
    }
}

}  // namespace systole::frontend::tflite
