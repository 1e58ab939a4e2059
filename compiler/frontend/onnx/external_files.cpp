#include "compiler/frontend/onnx/external_files.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/wire_format_lite.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/input_file.h"
#include "compiler/frontend/onnx/model_proto.h"
#include "compiler/frontend/onnx/tensors.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::onnx_file {
namespace {

namespace fs = std::filesystem;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

/// The messages on the ways from a model to the places of external data.
enum class Message : std::uint8_t { Model, Graph, Function, Node, Attribute, Tensor, Entry };

/// A field that holds messages on such a way.
struct Step {
    Message from;
    int field;
    Message to;
};

constexpr int function_defaults_field = 11;  // came after version 1.12 of the library
constexpr std::array<Step, 10> steps{{
    {Message::Model, ModelProto::kGraphFieldNumber, Message::Graph},
    {Message::Model, ModelProto::kFunctionsFieldNumber, Message::Function},
    {Message::Graph, GraphProto::kInitializerFieldNumber, Message::Tensor},
    {Message::Graph, GraphProto::kNodeFieldNumber, Message::Node},
    {Message::Function, FunctionProto::kNodeFieldNumber, Message::Node},
    {Message::Function, function_defaults_field, Message::Attribute},
    {Message::Node, NodeProto::kAttributeFieldNumber, Message::Attribute},
    {Message::Attribute, AttributeProto::kTFieldNumber, Message::Tensor},
    {Message::Attribute, AttributeProto::kGFieldNumber, Message::Graph},
    {Message::Tensor, TensorProto::kExternalDataFieldNumber, Message::Entry},
}};

/// Finds the locations of external data in a model without reading its tensors.
class LocationFinder {
public:
    explicit LocationFinder(CodedInputStream& stream) : stream_(stream) {}

    std::set<std::string> find() && {
        // What is found before damage is kept: the reader of the model says what is wrong.
        static_cast<void>(walk(Message::Model));
        return std::move(locations_);
    }

private:
    /// Walks the fields of a message to its end. Returns whether it was whole.
    bool walk(Message message) {
        while (const std::uint32_t tag = stream_.ReadTag()) {
            const bool is_message =
                WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
            const int field = WireFormatLite::GetTagFieldNumber(tag);
            const auto* const step = std::ranges::find_if(
                steps, [&](const Step& each) { return each.from == message && each.field == field; });
            if (!is_message || step == steps.end()) {
                if (!WireFormatLite::SkipField(&stream_, tag)) return false;
                continue;
            }
            if (!(step->to == Message::Entry ? take_entry() : enter(step->to))) return false;
        }
        return stream_.ConsumedEntireMessage();
    }

    bool enter(Message message) {
        // protobuf itself refuses models with more messages inside each other.
        constexpr int most_depth = 100;
        std::uint32_t bytes = 0;
        if (depth_ == most_depth || !stream_.ReadVarint32(&bytes)) return false;
        const CodedInputStream::Limit limit = stream_.PushLimit(static_cast<int>(bytes));
        ++depth_;
        const bool is_whole = walk(message);
        --depth_;
        stream_.PopLimit(limit);
        return is_whole;
    }

    bool take_entry() {
        std::uint32_t bytes = 0;
        std::string text;
        constexpr std::uint32_t most_bytes = 1U << 16U;  // far more than a path has
        if (!stream_.ReadVarint32(&bytes) || bytes > most_bytes) return false;
        if (!stream_.ReadString(&text, static_cast<int>(bytes))) return false;
        ::onnx::StringStringEntryProto entry;
        if (!entry.ParseFromString(text)) return false;
        if (entry.key() == "location") locations_.insert(entry.value());
        return true;
    }

    CodedInputStream& stream_;
    int depth_ = 0;  ///< of messages inside each other
    std::set<std::string> locations_;
};

/// A file, open while the object lives.
class OpenFile {
public:
    explicit OpenFile(const fs::path& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~OpenFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

}  // namespace

std::vector<fs::path> external_files(const fs::path& model) {
    if (input_fault(model)) return {};
    const OpenFile file(model);
    if (file.descriptor() < 0) return {};
    google::protobuf::io::FileInputStream bytes(file.descriptor());
    CodedInputStream stream(&bytes);
    std::vector<fs::path> files;
    for (const std::string& location : LocationFinder(stream).find()) {
        try {
            static_cast<void>(external_path(location, model.parent_path()));
            files.emplace_back(location);
        } catch (const ModelError&) {
            // The reader of the model refuses it with this reason.
        }
    }
    return files;
}

}  // namespace systole::frontend::onnx_file
