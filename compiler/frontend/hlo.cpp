#include "compiler/frontend/hlo.h"

#include <fmt/format.h>
#include <google/protobuf/arena.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "base/input_file.h"
#include "compiler/frontend/hlo/module_reader.h"
#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

/// protobuf reads no larger messages.
constexpr std::uint64_t most_module_bytes = std::numeric_limits<std::int32_t>::max();

}  // namespace

Module parse_module(std::string_view bytes) {
    google::protobuf::SetLogHandler(nullptr);  // it must not write to the terminal
    google::protobuf::Arena arena;
    auto& proto = *google::protobuf::Arena::CreateMessage<hlo_proto::HloModuleProto>(&arena);
    if (bytes.size() > most_module_bytes ||
        !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        throw ModelError("it is damaged: it is no serialized HloModuleProto");
    }
    return build_module(proto);
}

Module read_module(const std::filesystem::path& path) {
    const std::string bytes = read_input_file<ModelError>(path, most_module_bytes);
    try {
        return parse_module(bytes);
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("{}: {}", path.string(), error.what()));
    }
}

bool is_hlo(std::string_view head) {
    // Writers put the fields in the order of their numbers: the module's name, and that of its entry.
    constexpr char name_tag = 0x0a;
    constexpr char entry_tag = 0x12;
    if (head.size() < 2 || head[0] != name_tag) return false;
    const auto length = static_cast<unsigned char>(head[1]);
    constexpr unsigned char most_in_a_byte = 0x7f;
    if (length == 0 || length > most_in_a_byte) return false;
    const std::string_view name = head.substr(2, length);
    const auto is_graphic = [](char c) { return c > ' ' && c < most_in_a_byte; };
    return std::ranges::all_of(name, is_graphic) &&
           (name.size() < length || head.size() == name.size() + 2 || head[name.size() + 2] == entry_tag);
}

ir::Graph to_graph(const Module& module, const ir::OperatorSet& operators) {
    return GraphMaker(module, operators).make();
}

ir::Graph read_hlo(const std::filesystem::path& path, const ir::OperatorSet& operators) {
    const Module module = read_module(path);
    try {
        return to_graph(module, operators);
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("{}: {}", path.string(), error.what()));
    }
}

}  // namespace systole::hlo
