#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/schedule/row_allocation.h"

namespace systole::schedule {

/// A pipeline of slices: the network's layers in two or more stages of consecutive layers. While a slice is
/// in one stage, the slice behind it is in the stage before, and the list scheduler lets their steps take
/// turns.
///
/// Reading the input is a stage before the first, writing the output one behind the last. A slice enters a
/// stage when the slice before it has left that stage; of the others before it, each must have left one more
/// of the stages that follow. With `slack`, slices may be that much further ahead. So a tensor that is
/// written in stage i and last read in stage j > i needs rows for j - i + 1 + slack slices, which take them
/// in turn.
class Stages {
public:
    /// `first_layers`: of the stages behind the first, ascending, none 0. `layers`: of the network.
    Stages(std::span<const std::uint32_t> first_layers, std::uint32_t layers, std::uint32_t slack);

    std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }
    /// The stage of a step (memory_plan.h): 0 reads the input, count() + 1 writes the output.
    std::uint32_t of_step(std::uint32_t step) const;

    /// Whether a slice may enter a stage while the slice `before` slices before it is in `stage_before`.
    bool may_enter(std::uint32_t stage, std::size_t before, std::uint32_t stage_before) const;
    /// Slices that need rows for a tensor that is written and last read in these stages.
    std::uint32_t copies(std::uint32_t written, std::uint32_t read) const {
        return written == read ? 1 : read - written + 1 + slack_;
    }

private:
    std::vector<std::uint32_t> ends_;  ///< by stage: the last step
    std::uint32_t slack_;
};

/// The rows of all tensors of slices in a pipeline.
struct StagedRows {
    RowAllocation allocation;
    std::vector<std::uint32_t> copies;  ///< by tensor: slices that have rows
    std::uint32_t turn = 1;             ///< slices after which the first has its rows again
};

/// Allocates rows for slices of `images` images; `one_image` are the lifetimes of one image. Tensors that are
/// used in one stage alone share rows with each other, those of two stages do not: a slice is in each.
StagedRows allocate_stages(std::span<const Lifetime> one_image, std::uint32_t images, const Stages& stages);

}  // namespace systole::schedule
