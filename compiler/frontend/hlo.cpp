#include "compiler/frontend/hlo.h"

#include <fmt/format.h>
#include <google/protobuf/arena.h>
#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/input_file.h"
#include "compiler/frontend/hlo/module_reader.h"
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

}  // namespace systole::hlo
