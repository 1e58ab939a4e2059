#include "compiler/frontend/onnx.h"

#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/input_file.h"
#include "compiler/frontend/onnx/model_reader.h"
#include "compiler/frontend/protobuf.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

namespace fs = std::filesystem;

constexpr const char* broken = "it is damaged: it is no ONNX model";

/// A field of a message: its number and the kind of its contents.
struct FieldTag {
    std::uint64_t number;
    std::uint64_t wire_type;
};

/// Reads a number of up to ten bytes; nullopt if the text ends in it.
std::optional<std::uint64_t> take_number(std::string_view& text) {
    std::uint64_t number = 0;
    constexpr unsigned bits_a_byte = 7;
    constexpr unsigned most_bits = 64;
    for (unsigned shift = 0; shift < most_bits && !text.empty(); shift += bits_a_byte) {
        const auto byte = static_cast<unsigned char>(text.front());
        text.remove_prefix(1);
        number |= std::uint64_t{byte & 0x7fU} << shift;
        if ((byte & 0x80U) == 0) return number;
    }
    return std::nullopt;
}

/// Whether ModelProto has such a field.
bool is_model_field(const FieldTag& tag) {
    constexpr std::uint64_t varint = 0;
    constexpr std::uint64_t delimited = 2;
    // ir_version, producer_name, producer_version, domain, model_version, doc_string, graph, opset_import,
    // metadata_props, training_info, functions.
    constexpr std::array<FieldTag, 11> fields{{{1, varint},
                                               {2, delimited},
                                               {3, delimited},
                                               {4, delimited},
                                               {5, varint},
                                               {6, delimited},
                                               {7, delimited},
                                               {8, delimited},
                                               {14, delimited},
                                               {20, delimited},
                                               {25, delimited}}};
    return std::ranges::any_of(fields, [&](const FieldTag& field) {
        return field.number == tag.number && field.wire_type == tag.wire_type;
    });
}

}  // namespace

bool is_onnx(std::string_view head) {
    // Writers put the fields in the order of their numbers, so that the version is first.
    constexpr char version_tag = 0x08;
    constexpr std::uint64_t most_version = 1000;
    if (!head.starts_with(version_tag)) return false;
    bool is_first = true;
    std::size_t fields = 0;
    while (!head.empty()) {
        const auto tag = take_number(head);
        if (!tag) break;
        const FieldTag field{*tag >> 3U, *tag & 7U};
        if (!is_model_field(field)) return false;
        const auto number = take_number(head);
        if (!number) break;
        if (is_first && (*number == 0 || *number > most_version)) return false;
        is_first = false;
        ++fields;
        if (field.wire_type == 2) head.remove_prefix(std::min<std::uint64_t>(*number, head.size()));
    }
    return fields > 1;
}

ir::Graph build_onnx_graph(std::string_view model, const fs::path& folder, const ir::OperatorSet& operators,
                           const InputShapes& shapes) {
    silence_protobuf();
    const auto parse = [&] {
        ::onnx::ModelProto proto;
        if (model.size() > most_message_bytes ||
            !proto.ParseFromArray(model.data(), static_cast<int>(model.size()))) {
            throw ModelError(broken);
        }
        return proto;
    };
    return onnx_file::build_graph(parse, folder, operators, shapes);
}

ir::Graph read_onnx(const fs::path& path, const ir::OperatorSet& operators, const InputShapes& shapes) {
    silence_protobuf();
    check_input_file<ModelError>(path, most_message_bytes);
    try {
        const auto parse = [&] {
            ::onnx::ModelProto proto;
            std::ifstream file(path, std::ios::binary);
            google::protobuf::io::IstreamInputStream stream(&file);
            if (!proto.ParseFromZeroCopyStream(&stream)) throw ModelError(broken);
            return proto;
        };
        ir::Graph graph = onnx_file::build_graph(parse, path.parent_path(), operators, shapes);
        graph.name = path.stem().string();
        return graph;
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("{}: {}", path.string(), error.what()));
    }
}

}  // namespace systole::frontend
