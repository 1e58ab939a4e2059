#pragma once

#include <cstddef>
#include <utility>
#include <variant>

#include "hw/isa/instruction.h"

namespace systole::isa {

/// Calls `visit` with a default instruction of every kind, in the order of `Instruction`.
template <class Visit>
constexpr void for_each_kind(Visit visit) {
    [&]<std::size_t... index>(std::index_sequence<index...>) {
        (visit(std::variant_alternative_t<index, Instruction>{}), ...);
    }
    (std::make_index_sequence<std::variant_size_v<Instruction>>{});
}

}  // namespace systole::isa
