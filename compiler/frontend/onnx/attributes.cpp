#include "compiler/frontend/onnx/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/message_text.h"
#include "compiler/frontend/onnx/tensors.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::onnx_file {
namespace {

using nlohmann::json;
using ::onnx::AttributeProto;

/// The kind of an attribute; files before IR version 2 do not name it.
AttributeProto::AttributeType kind_of(const AttributeProto& attribute) {
    if (attribute.has_type() && attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
    if (attribute.has_f()) return AttributeProto::FLOAT;
    if (attribute.has_i()) return AttributeProto::INT;
    if (attribute.has_s()) return AttributeProto::STRING;
    if (attribute.has_t()) return AttributeProto::TENSOR;
    if (attribute.has_g()) return AttributeProto::GRAPH;
    if (attribute.floats_size() != 0) return AttributeProto::FLOATS;
    if (attribute.strings_size() != 0) return AttributeProto::STRINGS;
    return AttributeProto::INTS;
}

/// Text as JSON can hold it.
json text_of(const std::string& text) {
    if (!std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
        throw ModelError(fmt::format("it is {}; it must be ASCII", in_quotes(text)));
    }
    return text;
}

template <typename Numbers>
json list_of(const Numbers& numbers) {
    json list = json::array();
    for (const auto& number : numbers) list.push_back(number);
    return list;
}

/// Integers that mean "from the end" or "to the end" may be those of 64 bits.
json clamped(json list) {
    for (json& number : list) {
        number =
            std::clamp<std::int64_t>(number.get<std::int64_t>(), std::numeric_limits<std::int32_t>::min(),
                                     std::numeric_limits<std::int32_t>::max());
    }
    return list;
}

json elements_of(::onnx::TensorProto& proto, const std::filesystem::path& folder) {
    constexpr std::uint64_t most = 64;
    const auto tensor = take_tensor(proto, folder);
    if (!tensor) return json::array();
    if (tensor->shape.elements() > most) {
        throw ModelError(fmt::format("it has {} elements; an attribute may have at most {}",
                                     tensor->shape.elements(), most));
    }
    switch (tensor->type) {
        case DataType::Uint8:
            return list_of(tensor->contents.values<std::uint8_t>());
        case DataType::Int8:
            return list_of(tensor->contents.values<std::int8_t>());
        case DataType::Int16:
            return list_of(tensor->contents.values<std::int16_t>());
        case DataType::Uint16:
            return list_of(tensor->contents.values<std::uint16_t>());
        case DataType::Int32:
            return list_of(tensor->contents.values<std::int32_t>());
        default:
            return list_of(tensor->contents.values<float>());
    }
}

json value_of(AttributeProto& attribute, const std::filesystem::path& folder) {
    const bool is_end = attribute.name() == "starts" || attribute.name() == "ends";
    switch (kind_of(attribute)) {
        case AttributeProto::FLOAT:
            return attribute.f();
        case AttributeProto::INT:
            return attribute.i();
        case AttributeProto::STRING:
            return text_of(attribute.s());
        case AttributeProto::TENSOR:
            return elements_of(*attribute.mutable_t(), folder);
        case AttributeProto::FLOATS:
            return list_of(attribute.floats());
        case AttributeProto::INTS:
            return is_end ? clamped(list_of(attribute.ints())) : list_of(attribute.ints());
        case AttributeProto::STRINGS: {
            json list = json::array();
            for (const std::string& text : attribute.strings()) list.push_back(text_of(text));
            return list;
        }
        case AttributeProto::GRAPH:
        case AttributeProto::GRAPHS:
            throw ModelError("it is a graph of its own; nodes with graphs inside are not supported");
        default:
            throw ModelError("it is neither a number, a text, a tensor nor a list of these");
    }
}

}  // namespace

json attributes_of(::onnx::NodeProto& node, const std::filesystem::path& folder) {
    json attributes = json::object();
    for (AttributeProto& attribute : *node.mutable_attribute()) {
        const auto fail = [&](const std::string& rule) {
            throw ModelError(fmt::format("attribute {}: {}", in_quotes(attribute.name()), rule));
        };
        if (!attribute.ref_attr_name().empty()) fail("it refers to a function's; it must have a value");
        if (attributes.contains(attribute.name())) fail("it is there twice");
        try {
            attributes[text_of(attribute.name()).get<std::string>()] = value_of(attribute, folder);
        } catch (const ModelError& error) {
            fail(error.what());
        }
    }
    return attributes;
}

::onnx::TensorProto take_constant(::onnx::AttributeProto& attribute, const std::string& name) {
    ::onnx::TensorProto tensor;
    if (name == "value" && attribute.has_t()) {
        tensor.Swap(attribute.mutable_t());
    } else if (name == "value_float" || name == "value_floats") {
        tensor.set_data_type(::onnx::TensorProto::FLOAT);
        if (name == "value_float") {
            tensor.add_float_data(attribute.f());
        } else {
            tensor.mutable_float_data()->Swap(attribute.mutable_floats());
            tensor.add_dims(tensor.float_data_size());
        }
    } else if (name == "value_int" || name == "value_ints") {
        tensor.set_data_type(::onnx::TensorProto::INT64);
        if (name == "value_int") {
            tensor.add_int64_data(attribute.i());
        } else {
            tensor.mutable_int64_data()->Swap(attribute.mutable_ints());
            tensor.add_dims(tensor.int64_data_size());
        }
    } else {
        throw ModelError(fmt::format("attribute {}: it must be a tensor or numbers", in_quotes(name)));
    }
    return tensor;
}

}  // namespace systole::frontend::onnx_file
