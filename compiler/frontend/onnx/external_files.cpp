#include "compiler/frontend/onnx/external_files.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/wire_format_lite.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "compiler/frontend/onnx/model_proto.h"
#include "compiler/frontend/onnx/tensors.h"
#include "compiler/ir/model_error.h"
#include "hw/base/input_file.h"

namespace systole::frontend::onnx_file {
namespace {

namespace fs = std::filesystem;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

/// A way from a model to the places of external data: the numbers of the fields that hold the next message.
using Way = std::span<const int>;

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

constexpr std::array<int, 3> initializer_way{ModelProto::kGraphFieldNumber,
                                             GraphProto::kInitializerFieldNumber,
                                             TensorProto::kExternalDataFieldNumber};
constexpr std::array<int, 5> constant_way{ModelProto::kGraphFieldNumber, GraphProto::kNodeFieldNumber,
                                          NodeProto::kAttributeFieldNumber, AttributeProto::kTFieldNumber,
                                          TensorProto::kExternalDataFieldNumber};

/// Finds the locations of external data in a model without reading its tensors.
class LocationFinder {
public:
    explicit LocationFinder(CodedInputStream& stream) : stream_(stream) {}

    std::set<std::string> find() && {
        // What is found before damage is kept: the reader of the model says what is wrong.
        static_cast<void>(walk({initializer_way, constant_way}));
        return std::move(locations_);
    }

private:
    /// Walks the fields of a message to its end. The ways are what is left of each behind this message.
    /// Returns whether the message was whole.
    bool walk(std::array<Way, 2> ways) {
        while (const std::uint32_t tag = stream_.ReadTag()) {
            const bool is_message =
                WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
            const int number = WireFormatLite::GetTagFieldNumber(tag);
            std::array<Way, 2> next;
            bool is_on_way = false;
            bool is_end = false;
            for (std::size_t i = 0; i < ways.size(); ++i) {
                if (ways[i].empty() || ways[i].front() != number) continue;
                next[i] = ways[i].subspan(1);
                is_on_way = true;
                is_end |= next[i].empty();
            }
            if (!is_message || !is_on_way) {
                if (!WireFormatLite::SkipField(&stream_, tag)) return false;
                continue;
            }
            if (!(is_end ? take_entry() : enter(next))) return false;
        }
        return stream_.ConsumedEntireMessage();
    }

    bool enter(const std::array<Way, 2>& ways) {
        std::uint32_t bytes = 0;
        if (!stream_.ReadVarint32(&bytes)) return false;
        const CodedInputStream::Limit limit = stream_.PushLimit(static_cast<int>(bytes));
        const bool is_whole = walk(ways);
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
