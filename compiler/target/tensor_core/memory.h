#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/target/tensor_core/network.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

/// Where tensors lie.
namespace systole::tensor_core {

/// How the weights of a product lie in high-bandwidth memory if they are constants: the tiles of a panel of
/// columns follow each other, and panels do.
struct WeightTiles {
    std::uint64_t depth = 0;  ///< rows of the matrix
    std::uint64_t cuts = 0;   ///< tiles of a panel
    std::uint64_t panels = 0;
    std::uint64_t tile_rows = 0;  ///< rows of memory that a tile takes
    bool packed = false;

    std::uint64_t rows() const { return panels * cuts * tile_rows; }
};
WeightTiles weight_tiles(const Tensor& weights, const Step& step, const machine::MachineConfig& machine);

struct MemoryPlan {
    /// By step: the rows of vector memory through which its tiles go. Those behind them have tensors that
    /// stay.
    std::vector<std::uint64_t> tile_rows;
    std::vector<isa::InitialRows> constants;  ///< of high-bandwidth memory
};

/// What a plan has.
struct PlanNeeds {
    double kept_share = 0.6;  ///< of vector memory: tensors that stay there take at most so much of it
    /// Inputs have two places, which groups of images take in turn. State always has, where it is replaced.
    bool alternates = false;
    bool constants = true;  ///< their contents are wanted
};

/// Gives all tensors of the network a home. Throws ModelError if high-bandwidth memory is too small, with the
/// bytes needed.
MemoryPlan place_tensors(Network& network, const machine::MachineConfig& machine, const PlanNeeds& needs);

/// The rows of vector memory through which tiles go. What is taken next lies behind what was taken last, as
/// far as there is room: so the next tile comes in while the one before it is worked on.
class TilePool {
public:
    /// Nothing may be taken of the rows before.
    void resize(std::uint64_t rows);
    std::uint64_t rows() const { return rows_; }

    /// nullopt if there is no gap so large.
    std::optional<std::uint64_t> take(std::uint64_t rows);
    void give_back(std::uint64_t first);
    std::uint64_t largest_gap() const;

private:
    /// The end of the gap that begins at a row; that row if it is taken.
    std::uint64_t end_of_gap(std::uint64_t row) const;

    std::uint64_t rows_ = 0;
    std::uint64_t next_ = 0;
    std::map<std::uint64_t, std::uint64_t> taken_;  ///< the end of each part that is taken, by its first row
};

}  // namespace systole::tensor_core
