#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#include "hw/isa/instructions/activate.h"
#include "hw/isa/instructions/collect.h"
#include "hw/isa/instructions/collective.h"
#include "hw/isa/instructions/convolve.h"
#include "hw/isa/instructions/debug_tag.h"
#include "hw/isa/instructions/dma_in.h"
#include "hw/isa/instructions/dma_out.h"
#include "hw/isa/instructions/exchange.h"
#include "hw/isa/instructions/gather_rows.h"
#include "hw/isa/instructions/halt.h"
#include "hw/isa/instructions/host_work.h"
#include "hw/isa/instructions/infeed.h"
#include "hw/isa/instructions/interrupt_host.h"
#include "hw/isa/instructions/load_weights.h"
#include "hw/isa/instructions/matrix_multiply.h"
#include "hw/isa/instructions/move.h"
#include "hw/isa/instructions/move_lanes.h"
#include "hw/isa/instructions/multicast.h"
#include "hw/isa/instructions/nop.h"
#include "hw/isa/instructions/outfeed.h"
#include "hw/isa/instructions/permute.h"
#include "hw/isa/instructions/product.h"
#include "hw/isa/instructions/read_host_memory.h"
#include "hw/isa/instructions/read_parameters.h"
#include "hw/isa/instructions/read_program.h"
#include "hw/isa/instructions/read_tensor.h"
#include "hw/isa/instructions/read_weights.h"
#include "hw/isa/instructions/reduce_lanes.h"
#include "hw/isa/instructions/reduce_rows.h"
#include "hw/isa/instructions/run_chain.h"
#include "hw/isa/instructions/set_config.h"
#include "hw/isa/instructions/stream_parameters.h"
#include "hw/isa/instructions/sync_signal.h"
#include "hw/isa/instructions/sync_wait.h"
#include "hw/isa/instructions/tile_multiply.h"
#include "hw/isa/instructions/tile_vector.h"
#include "hw/isa/instructions/transpose.h"
#include "hw/isa/instructions/vector.h"
#include "hw/isa/instructions/write_host_memory.h"
#include "hw/isa/instructions/write_tensor.h"
#include "hw/isa/instructions/write_weights.h"

namespace systole::isa {

using Instruction =
    std::variant<Nop, Halt, SyncWait, SyncSignal, InterruptHost, DebugTag, SetConfig, ReadHostMemory,
                 WriteHostMemory, ReadWeights, HostWork, MatrixMultiply, Convolve, Activate, Vector,
                 ReadProgram, ReadParameters, ReadTensor, WriteTensor, StreamParameters, Multicast, Collect,
                 Exchange, Move, TileMultiply, TileVector, Infeed, Outfeed, DmaIn, DmaOut, LoadWeights,
                 Product, RunChain, ReduceRows, ReduceLanes, Transpose, MoveLanes, Collective, Permute,
                 GatherRows, WriteWeights>;

/// The flags of matrix_multiply and convolve; null for other instructions.
inline const MatrixFlags* matrix_flags(const Instruction& instruction) {
    if (const auto* multiply = std::get_if<MatrixMultiply>(&instruction)) return &multiply->flags;
    if (const auto* convolve = std::get_if<Convolve>(&instruction)) return &convolve->flags;
    return nullptr;
}

/// Whether an instruction is one of machines with tiles alone.
template <class Each>
inline constexpr bool is_for_tiles = requires {
    Each::needs_tiles;
};

/// Whether an instruction is one of machines with a tensor core alone.
template <class Each>
inline constexpr bool is_for_tensor_core = requires {
    Each::needs_tensor_core;
};

/// Whether an instruction is one of machines with a systolic array and a unified buffer alone.
template <class Each>
inline constexpr bool is_for_array =
    std::is_same_v<Each, ReadHostMemory> || std::is_same_v<Each, WriteHostMemory> ||
    std::is_same_v<Each, ReadWeights> || std::is_same_v<Each, MatrixMultiply> ||
    std::is_same_v<Each, Convolve> || std::is_same_v<Each, Activate> || std::is_same_v<Each, Vector> ||
    std::is_same_v<Each, WriteWeights>;

/// Calls `visit` with a default instruction of every kind, in the order of `Instruction`.
template <class Visit>
constexpr void for_each_kind(Visit visit) {
    [&]<std::size_t... index>(std::index_sequence<index...>) {
        (visit(std::variant_alternative_t<index, Instruction>{}), ...);
    }
    (std::make_index_sequence<std::variant_size_v<Instruction>>{});
}

}  // namespace systole::isa
