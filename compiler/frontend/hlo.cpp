#include "compiler/frontend/hlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "compiler/frontend/hlo/gzip.h"
#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {

bool is_hlo(std::string_view head) {
    if (is_gzip(head)) return true;
    // Writers put the fields in the order of their numbers: the module's name, and that of its entry.
    constexpr char name_tag = 0x0a;
    constexpr char entry_tag = 0x12;
    if (head.empty() || head.front() != name_tag) return false;
    head.remove_prefix(1);
    // The length: 7 bits in a byte, the lowest first; all but the last byte have an eighth one.
    constexpr unsigned bits_in_a_byte = 7;
    constexpr unsigned most_bits = 31;
    std::uint64_t length = 0;
    for (unsigned shift = 0;; shift += bits_in_a_byte) {
        if (head.empty() || shift > most_bits) return false;
        const auto byte = static_cast<unsigned char>(head.front());
        head.remove_prefix(1);
        length |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80U) break;
    }
    const std::string_view name = head.substr(0, length);
    const auto is_graphic = [](char c) { return c > ' ' && c <= '~'; };
    return length != 0 && std::ranges::all_of(name, is_graphic) &&
           (head.size() <= length || head[length] == entry_tag);
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
