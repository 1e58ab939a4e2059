#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/onnx.h"
#include "compiler/frontend/onnx/model_proto.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"

/// ONNX models made in tests.
namespace systole::tests {

using Extents = std::vector<std::int64_t>;

/// A model of one graph, node by node.
class OnnxModel {
public:
    explicit OnnxModel(std::int64_t opset = 13) {
        model_.set_ir_version(7);
        model_.set_producer_name("test");
        model_.add_opset_import()->set_version(opset);
        graph().set_name("g");
    }

    /// Imports an operator set of another domain than ONNX' own.
    OnnxModel& import_set(const std::string& domain, std::int64_t version) {
        auto& set = *model_.add_opset_import();
        set.set_domain(domain);
        set.set_version(version);
        return *this;
    }

    ::onnx::ModelProto& proto() { return model_; }
    ::onnx::GraphProto& graph() { return *model_.mutable_graph(); }

    OnnxModel& input(const std::string& name, const Extents& shape,
                     ::onnx::TensorProto::DataType type = ::onnx::TensorProto::FLOAT) {
        ::onnx::ValueInfoProto& input = *graph().add_input();
        input.set_name(name);
        auto& tensor = *input.mutable_type()->mutable_tensor_type();
        tensor.set_elem_type(type);
        tensor.mutable_shape();
        for (const std::int64_t extent : shape) {
            // A negative extent has no size.
            auto& dimension = *tensor.mutable_shape()->add_dim();
            if (extent >= 0) dimension.set_dim_value(extent);
        }
        return *this;
    }
    OnnxModel& output(const std::string& name) {
        graph().add_output()->set_name(name);
        return *this;
    }
    ::onnx::TensorProto& tensor(const std::string& name, ::onnx::TensorProto::DataType type,
                                const Extents& shape) {
        ::onnx::TensorProto& tensor = *graph().add_initializer();
        tensor.set_name(name);
        tensor.set_data_type(type);
        for (const std::int64_t extent : shape) tensor.add_dims(extent);
        return tensor;
    }
    OnnxModel& floats(const std::string& name, const Extents& shape, const std::vector<float>& values) {
        ::onnx::TensorProto& made = tensor(name, ::onnx::TensorProto::FLOAT, shape);
        for (const float value : values) made.add_float_data(value);
        return *this;
    }
    template <typename Number>
    OnnxModel& raw(const std::string& name, ::onnx::TensorProto::DataType type, const Extents& shape,
                   const std::vector<Number>& values) {
        tensor(name, type, shape).set_raw_data(values.data(), values.size() * sizeof(Number));
        return *this;
    }
    /// Adds a node that is called like its first result with "n_" before it.
    ::onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs) {
        ::onnx::NodeProto& node = *graph().add_node();
        node.set_op_type(op);
        node.set_name("n_" + outputs.front());
        for (const std::string& input : inputs) node.add_input(input);
        for (const std::string& output : outputs) node.add_output(output);
        return node;
    }

    std::string bytes() { return model_.SerializeAsString(); }
    ir::Graph read() { return frontend::build_onnx_graph(bytes(), {}, operators::registry()); }

private:
    ::onnx::ModelProto model_;
};

/// Why a model is refused, or "no error".
inline std::string refusal_of(OnnxModel& model) {
    try {
        static_cast<void>(model.read());
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

inline ::onnx::AttributeProto& attribute(::onnx::NodeProto& node, const std::string& name,
                                         ::onnx::AttributeProto::AttributeType type) {
    ::onnx::AttributeProto& made = *node.add_attribute();
    made.set_name(name);
    made.set_type(type);
    return made;
}
/// Lets the values of a tensor lie in a file beside the model.
inline void place_outside(::onnx::TensorProto& tensor, const std::string& file, std::uint64_t offset,
                          std::uint64_t bytes) {
    tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", file},
                                     {"offset", std::to_string(offset)},
                                     {"length", std::to_string(bytes)}}) {
        auto& entry = *tensor.add_external_data();
        entry.set_key(key);
        entry.set_value(value);
    }
}
inline ::onnx::NodeProto& with_attribute(::onnx::NodeProto& node, const std::string& name,
                                         const Extents& numbers) {
    auto& made = attribute(node, name, ::onnx::AttributeProto::INTS);
    for (const std::int64_t number : numbers) made.add_ints(number);
    return node;
}
inline ::onnx::NodeProto& with_attribute(::onnx::NodeProto& node, const std::string& name,
                                         std::int64_t number) {
    attribute(node, name, ::onnx::AttributeProto::INT).set_i(number);
    return node;
}
inline ::onnx::NodeProto& with_attribute(::onnx::NodeProto& node, const std::string& name, float number) {
    attribute(node, name, ::onnx::AttributeProto::FLOAT).set_f(number);
    return node;
}
inline ::onnx::NodeProto& with_attribute(::onnx::NodeProto& node, const std::string& name, const char* text) {
    attribute(node, name, ::onnx::AttributeProto::STRING).set_s(text);
    return node;
}

}  // namespace systole::tests
