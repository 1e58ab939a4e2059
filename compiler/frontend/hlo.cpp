#include "compiler/frontend/hlo.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {

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
