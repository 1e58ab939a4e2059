#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/rounding.h"

/// The units of the family edge_tpu. Defaults are the Edge TPU's numbers; configs/machines/edge_tpu_*.json
/// name a source for each.
namespace systole::machine {

/// The simulator's engine for the tiles; every engine gives the same cycles and the same bits.
enum class TileEngine : std::uint8_t { ClosedForm, Lane };
inline constexpr std::array<std::string_view, 2> tile_engine_names{"closed_form", "lane"};

/// The tiles, which execute one stream of instructions together.
struct TileArrayConfig {
    std::uint32_t lines = 4;
    std::uint32_t columns = 4;
    std::uint32_t lanes = 64;  ///< of a tile; a multiple of 16. A lane multiplies 4 elements a cycle
    TileEngine engine = TileEngine::ClosedForm;
    std::uint32_t pixels = 64;              ///< for which a tile has sums at once
    std::uint32_t weight_buffers = 1;       ///< parts of blocks that a tile holds
    std::uint32_t weight_buffer_rows = 32;  ///< of one; a row is a cycle's weights of all lanes
    std::uint32_t depthwise_macs_per_cycle = 6;
    std::uint32_t vector_bytes_per_cycle = 4;
    std::uint32_t pooling_bytes_per_cycle = 4;
    std::uint32_t result_cycles = 1;  ///< from a sum's last product until its result is in narrow memory
    Rounding rounding = Rounding::FloatHalfEven;  ///< of results; networks are compiled for it

    std::uint32_t tiles() const { return lines * columns; }
};

struct NarrowMemoryConfig {
    std::uint32_t bytes = 196608;  ///< of a tile
};

struct WideMemoryConfig {
    std::uint32_t bytes = 524288;  ///< of a tile; a multiple of 64
};

/// The ring through all tiles.
struct RingConfig {
    double bytes_per_cycle = 9.3;
    std::uint32_t latency_cycles = 0;
};

/// The links between neighbouring tiles.
struct MeshConfig {
    double bytes_per_cycle = 4.0;  ///< of a link, in each direction
    std::uint32_t latency_cycles = 0;
};

/// Where parameters wait that come over the link to the host for the ring.
struct StagingBufferConfig {
    std::uint64_t bytes = 131072;
};

/// What the compiler may use of the wide memories for parameters that stay.
struct ParameterCacheConfig {
    std::uint64_t reserved_bytes = 0;  ///< of other networks, in all tiles
};

/// What the compiler does with layers that the tiles do not compute.
enum class TilePlacement : std::uint8_t {
    AfterFirstUnsupported,  ///< all from the first of them on run on the host
    ChipAlone,              ///< there must be none
};
inline constexpr std::array<std::string_view, 2> tile_placement_names{"after_first_unsupported",
                                                                      "chip_alone"};
constexpr std::string_view name_of(TilePlacement placement) {
    return tile_placement_names[static_cast<std::size_t>(placement)];
}

/// The bytes of instructions that a call sends, and which layers they are for.
struct ProgramConfig {
    TilePlacement placement = TilePlacement::AfterFirstUnsupported;
    std::uint64_t bytes = 0;  ///< where a compiled file's size is known; 0: by the numbers below
    std::uint64_t bytes_per_layer = 3250;
    std::uint64_t classifier_bytes = 138000;  ///< in addition, of a network that ends in softmax
};

/// The host's part of a call.
struct HostCallConfig {
    /// The baseline that does the host's work, unless the run names another; empty: the run's default.
    std::string processor;
    double call_us = 0.0;  ///< from the call until the first byte leaves, with what follows the last
};

/// The energy of a call: of the chip's events, of its end of the link, of the host and of the board.
///
/// A cycle in which tiles multiply takes the energy of its multiply-accumulates, and that of each tile, whose
/// memories, clocks and control work whatever its lanes do. With all lanes at work, both sum to the published
/// watts of the busy chip.
struct TileEnergyConfig {
    double mac_pj = 0.0;                 ///< of a lane with work
    double tile_cycle_pj = 0.0;          ///< of a tile that computes, or takes what the ring sends
    double host_link_pj_per_byte = 0.0;  ///< at the chip's end, in each direction
    double host_watts = 0.0;             ///< while the host works for a call, above its idle watts
    double board_watts = 0.0;  ///< idle, with all that stands on it; the host, where it stands there

    double host_pj(double microseconds) const { return 1e6 * host_watts * microseconds; }
};

}  // namespace systole::machine
