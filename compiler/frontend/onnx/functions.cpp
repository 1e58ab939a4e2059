#include "compiler/frontend/onnx/functions.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

#include <utility>

#include "base/message_text.h"
#include "compiler/frontend/onnx/operator_sets.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::onnx_file {
namespace {

// Fields that came after version 1.12 of the library.
constexpr int overload_of_node = 8;
constexpr int overload_of_function = 13;
constexpr int defaults_of_function = 11;

/// The contents of a field that is a text or a list of messages, also if the library is older than the field.
std::vector<std::string> contents_of(const google::protobuf::Message& message, int number) {
    std::vector<std::string> contents;
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    if (const auto* const field = message.GetDescriptor()->FindFieldByNumber(number)) {
        if (!field->is_repeated()) return {reflection.GetString(message, field)};
        for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
            contents.push_back(reflection.GetRepeatedMessage(message, field, i).SerializeAsString());
        }
        return contents;
    }
    const google::protobuf::UnknownFieldSet& fields = reflection.GetUnknownFields(message);
    for (int i = 0; i < fields.field_count(); ++i) {
        const google::protobuf::UnknownField& field = fields.field(i);
        const bool is_it =
            field.number() == number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
        if (is_it) contents.push_back(field.length_delimited());
    }
    return contents;
}

std::string text_of(const google::protobuf::Message& message, int number) {
    const std::vector<std::string> contents = contents_of(message, number);
    return contents.empty() ? std::string() : contents.back();
}

}  // namespace

std::string function_place(const ::onnx::FunctionProto& function) {
    const std::string& domain = function.domain();
    return fmt::format("function {}",
                       in_quotes(domain.empty() ? function.name() : domain + "." + function.name()));
}

Functions::Functions(::onnx::ModelProto& model) {
    for (::onnx::FunctionProto& proto : *model.mutable_functions()) {
        Function function{.proto = &proto};
        for (const std::string& bytes : contents_of(proto, defaults_of_function)) {
            if (function.defaults.emplace_back().ParseFromString(bytes)) continue;
            throw ModelError(
                fmt::format("{}: a default of its attributes is damaged", function_place(proto)));
        }
        const Key key{domain_of(proto.domain()), proto.name(), text_of(proto, overload_of_function)};
        if (functions_.emplace(key, std::move(function)).second) continue;
        throw ModelError(fmt::format("{}: it is defined twice", function_place(proto)));
    }
}

Function* Functions::find(const ::onnx::NodeProto& node) {
    if (functions_.empty()) return nullptr;
    const auto found =
        functions_.find({domain_of(node.domain()), node.op_type(), text_of(node, overload_of_node)});
    return found == functions_.end() ? nullptr : &found->second;
}

ExpansionBudget::ExpansionBudget(const ::onnx::ModelProto& model) {
    constexpr std::size_t always_allowed = std::size_t{1} << 24;
    most_bytes_ = always_allowed + model.ByteSizeLong();
}

void ExpansionBudget::count_call(const ::onnx::FunctionProto& function) {
    // Values, names and shapes of a node in the graph.
    constexpr std::size_t bytes_a_node = 128;
    // Its constants are no part of it after the first call: all calls share them.
    bytes_ += function.ByteSizeLong() + bytes_a_node * (static_cast<std::size_t>(function.node_size()) + 1);
    if (bytes_ <= most_bytes_) return;
    throw ModelError(
        fmt::format("with this call, the nodes of the file's functions are {} bytes; they may be {}", bytes_,
                    most_bytes_));
}

}  // namespace systole::frontend::onnx_file
