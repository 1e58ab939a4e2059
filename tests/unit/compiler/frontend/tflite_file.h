#pragma once

#include <tflite_generated.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace systole::tests {

namespace format = frontend::tflite;

/// The scales and zero points of a tensor.
struct TensorScale {
    std::vector<float> scales = {};
    std::vector<std::int64_t> zero_points = {};
    std::int32_t axis = 0;
};

/// Writes a TFLite file, by the classes that the schema gives.
class TfliteFile {
public:
    using Scale = TensorScale;

    /// Adds a tensor and returns its number.
    std::int32_t tensor(const std::string& name, format::TensorType type,
                        const std::vector<std::int32_t>& shape, const Scale& scale = {},
                        std::uint32_t buffer = 0) {
        return add(name, type, shape, scale, buffer, {}, false);
    }
    /// A tensor whose sizes are open where `signature` has -1.
    std::int32_t open_tensor(const std::string& name, format::TensorType type,
                             const std::vector<std::int32_t>& shape,
                             const std::vector<std::int32_t>& signature) {
        return add(name, type, shape, {}, 0, signature, false);
    }
    /// A state.
    std::int32_t variable(const std::string& name, format::TensorType type,
                          const std::vector<std::int32_t>& shape, const Scale& scale = {}) {
        return add(name, type, shape, scale, 0, {}, true);
    }

    template <typename Number>
    std::int32_t constant(const std::string& name, format::TensorType type,
                          const std::vector<std::int32_t>& shape, const std::vector<Number>& numbers,
                          const Scale& scale = {}) {
        std::vector<std::uint8_t> bytes(numbers.size() * sizeof(Number));
        if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
        buffers_.push_back(format::CreateBuffer(builder_, builder_.CreateVector(bytes)));
        return tensor(name, type, shape, scale, static_cast<std::uint32_t>(buffers_.size()));
    }

    /// Adds a node. `options` are made by builder(); `intermediates` are tensors between inputs and outputs.
    template <typename Options = void>
    void node(format::BuiltinOperator op, const std::vector<std::int32_t>& inputs,
              const std::vector<std::int32_t>& outputs,
              format::BuiltinOptions type = format::BuiltinOptions::NONE,
              flatbuffers::Offset<Options> options = 0, const std::vector<std::int32_t>& intermediates = {}) {
        constexpr auto most =
            static_cast<std::int32_t>(format::BuiltinOperator::PLACEHOLDER_FOR_GREATER_OP_CODES);
        const auto old = static_cast<std::int8_t>(std::min(static_cast<std::int32_t>(op), most));
        const auto custom = op == format::BuiltinOperator::CUSTOM
                                ? builder_.CreateString("my_operator")
                                : flatbuffers::Offset<flatbuffers::String>();
        codes_.push_back(format::CreateOperatorCode(builder_, old, custom, 1, op));
        const auto given = builder_.CreateVector(inputs);
        const auto results = builder_.CreateVector(outputs);
        const auto between = intermediates.empty() ? flatbuffers::Offset<flatbuffers::Vector<std::int32_t>>()
                                                   : builder_.CreateVector(intermediates);
        format::OperatorBuilder made(builder_);
        made.add_opcode_index(static_cast<std::uint32_t>(codes_.size() - 1));
        made.add_inputs(given);
        made.add_outputs(results);
        made.add_builtin_options_type(type);
        made.add_builtin_options(options.Union());
        if (!intermediates.empty()) made.add_intermediates(between);
        nodes_.push_back(made.Finish());
    }
    void node(format::BuiltinOperator op, const std::vector<std::int32_t>& inputs,
              const std::vector<std::int32_t>& outputs) {
        node<void>(op, inputs, outputs);
    }

    /// Adds a node whose list of inputs is left out.
    template <typename Options>
    void node_without_inputs(format::BuiltinOperator op, const std::vector<std::int32_t>& outputs,
                             format::BuiltinOptions type, flatbuffers::Offset<Options> options) {
        codes_.push_back(format::CreateOperatorCode(builder_, 0, 0, 1, op));
        const auto results = builder_.CreateVector(outputs);
        nodes_.push_back(format::CreateOperator(builder_, static_cast<std::uint32_t>(codes_.size() - 1), 0,
                                                results, type, options.Union()));
    }

    flatbuffers::FlatBufferBuilder& builder() { return builder_; }

    /// Ends a network of the file, before the last one; tensors and nodes of the next follow.
    void next_network(const std::vector<std::int32_t>& inputs, const std::vector<std::int32_t>& outputs,
                      const std::string& name) {
        networks_.push_back(network(inputs, outputs, name));
        tensors_.clear();
        nodes_.clear();
    }

    /// A signature of one input and one output.
    void signature(const std::string& key, std::uint32_t network, const std::string& input,
                   std::uint32_t from, const std::string& output, std::uint32_t to) {
        const auto map = [&](const std::string& name, std::uint32_t tensor) {
            const auto entry = format::CreateTensorMap(builder_, builder_.CreateString(name), tensor);
            return builder_.CreateVector(&entry, 1);
        };
        const auto inputs = map(input, from);
        const auto outputs = map(output, to);
        signatures_.push_back(
            format::CreateSignatureDef(builder_, inputs, outputs, builder_.CreateString(key), network));
    }

    /// The bytes of the file.
    std::vector<std::uint8_t> finish(const std::vector<std::int32_t>& inputs,
                                     const std::vector<std::int32_t>& outputs, std::uint32_t version = 3) {
        networks_.push_back(network(inputs, outputs, "main"));
        buffers_.insert(buffers_.begin(), format::CreateBuffer(builder_));
        const auto codes = builder_.CreateVector(codes_);
        const auto networks = builder_.CreateVector(networks_);
        const auto signatures = builder_.CreateVector(signatures_);
        const auto buffers = builder_.CreateVector(buffers_);
        format::FinishModelBuffer(
            builder_, format::CreateModel(builder_, version, codes, networks, 0, buffers, signatures));
        return {builder_.GetBufferPointer(), builder_.GetBufferPointer() + builder_.GetSize()};
    }

private:
    std::int32_t add(const std::string& name, format::TensorType type, const std::vector<std::int32_t>& shape,
                     const Scale& scale, std::uint32_t buffer, const std::vector<std::int32_t>& signature,
                     bool is_variable) {
        flatbuffers::Offset<format::QuantizationParameters> quantization;
        if (!scale.scales.empty()) {
            const auto scales = builder_.CreateVector(scale.scales);
            const auto zero_points = builder_.CreateVector(scale.zero_points);
            quantization =
                format::CreateQuantizationParameters(builder_, 0, 0, scales, zero_points, 0, 0, scale.axis);
        }
        const auto text = builder_.CreateString(name);
        const auto extents = builder_.CreateVector(shape);
        const auto open = signature.empty() ? flatbuffers::Offset<flatbuffers::Vector<std::int32_t>>()
                                            : builder_.CreateVector(signature);
        format::TensorBuilder made(builder_);
        made.add_shape(extents);
        made.add_is_variable(is_variable);
        if (!signature.empty()) made.add_shape_signature(open);
        made.add_type(type);
        made.add_buffer(buffer);
        made.add_name(text);
        if (!scale.scales.empty()) made.add_quantization(quantization);
        tensors_.push_back(made.Finish());
        return static_cast<std::int32_t>(tensors_.size() - 1);
    }

    flatbuffers::Offset<format::SubGraph> network(const std::vector<std::int32_t>& inputs,
                                                  const std::vector<std::int32_t>& outputs,
                                                  const std::string& name) {
        return format::CreateSubGraph(builder_, builder_.CreateVector(tensors_),
                                      builder_.CreateVector(inputs), builder_.CreateVector(outputs),
                                      builder_.CreateVector(nodes_), builder_.CreateString(name));
    }

    flatbuffers::FlatBufferBuilder builder_;
    std::vector<flatbuffers::Offset<format::Tensor>> tensors_;
    std::vector<flatbuffers::Offset<format::Buffer>> buffers_;
    std::vector<flatbuffers::Offset<format::OperatorCode>> codes_;
    std::vector<flatbuffers::Offset<format::Operator>> nodes_;
    std::vector<flatbuffers::Offset<format::SubGraph>> networks_;
    std::vector<flatbuffers::Offset<format::SignatureDef>> signatures_;
};

}  // namespace systole::tests
