#pragma once

#include <cstddef>
#include <utility>
#include <variant>

#include "hw/isa/instructions/activate.h"
#include "hw/isa/instructions/convolve.h"
#include "hw/isa/instructions/debug_tag.h"
#include "hw/isa/instructions/halt.h"
#include "hw/isa/instructions/host_work.h"
#include "hw/isa/instructions/interrupt_host.h"
#include "hw/isa/instructions/matrix_multiply.h"
#include "hw/isa/instructions/nop.h"
#include "hw/isa/instructions/read_host_memory.h"
#include "hw/isa/instructions/read_weights.h"
#include "hw/isa/instructions/set_config.h"
#include "hw/isa/instructions/sync_signal.h"
#include "hw/isa/instructions/sync_wait.h"
#include "hw/isa/instructions/vector.h"
#include "hw/isa/instructions/write_host_memory.h"

namespace systole::isa {

using Instruction =
    std::variant<Nop, Halt, SyncWait, SyncSignal, InterruptHost, DebugTag, SetConfig, ReadHostMemory,
                 WriteHostMemory, ReadWeights, HostWork, MatrixMultiply, Convolve, Activate, Vector>;

/// The flags of matrix_multiply and convolve; null for other instructions.
inline const MatrixFlags* matrix_flags(const Instruction& instruction) {
    if (const auto* multiply = std::get_if<MatrixMultiply>(&instruction)) return &multiply->flags;
    if (const auto* convolve = std::get_if<Convolve>(&instruction)) return &convolve->flags;
    return nullptr;
}

/// Calls `visit` with a default instruction of every kind, in the order of `Instruction`.
template <class Visit>
constexpr void for_each_kind(Visit visit) {
    [&]<std::size_t... index>(std::index_sequence<index...>) {
        (visit(std::variant_alternative_t<index, Instruction>{}), ...);
    }
    (std::make_index_sequence<std::variant_size_v<Instruction>>{});
}

}  // namespace systole::isa
