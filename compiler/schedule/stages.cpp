#include "compiler/schedule/stages.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace systole::schedule {

Stages::Stages(std::span<const std::uint32_t> first_layers, std::uint32_t layers, std::uint32_t slack)
    : slack_(slack) {
    std::uint32_t before = 0;
    for (const std::uint32_t first : first_layers) {
        if (first <= before || first >= layers) {
            throw std::logic_error("stages begin at ascending layers of the network, none at the first");
        }
        ends_.push_back(first);
        before = first;
    }
    ends_.push_back(layers);
}

std::uint32_t Stages::of_step(std::uint32_t step) const {
    if (step == 0) return 0;
    const auto stage = std::ranges::lower_bound(ends_, step);
    return static_cast<std::uint32_t>(stage - ends_.begin()) + 1;
}

// Of the slice before it, the slice needs the rows that belong to the stage; of the one before slice - 1 -
// slack, those of tensors that are read in the stage behind; and so on.
bool Stages::may_enter(std::uint32_t stage, std::size_t before, std::uint32_t stage_before) const {
    if (before == 1) return stage_before > stage;
    const std::size_t behind = before - 1 > slack_ ? before - 1 - slack_ : 0;
    return stage + behind > count() || stage_before > stage + behind;
}

StagedRows allocate_stages(std::span<const Lifetime> one_image, std::uint32_t images, const Stages& stages) {
    StagedRows staged;
    staged.allocation.first_row.resize(one_image.size());
    staged.copies.assign(one_image.size(), 1);
    std::uint64_t& rows = staged.allocation.rows;
    std::vector<std::vector<std::size_t>> tensors_of(stages.count() + 2);
    for (std::size_t id = 0; id < one_image.size(); ++id) {
        const Lifetime& lifetime = one_image[id];
        if (lifetime.lies_in) continue;
        const std::uint32_t first = stages.of_step(lifetime.first_step);
        const std::uint32_t last = stages.of_step(lifetime.last_step);
        if (first == last) {
            tensors_of[first].push_back(id);
            continue;
        }
        staged.copies[id] = stages.copies(first, last);
        staged.turn = std::lcm(staged.turn, staged.copies[id]);
        staged.allocation.first_row[id] = rows;
        rows += lifetime.rows * images * staged.copies[id];
    }
    std::uint64_t& least_rows = staged.allocation.least_rows;
    least_rows = rows;
    for (const std::vector<std::size_t>& tensors : tensors_of) {
        std::vector<Lifetime> lifetimes;
        for (const std::size_t id : tensors) {
            lifetimes.push_back(one_image[id]);
            lifetimes.back().rows *= images;
        }
        const RowAllocation own = allocate_rows(lifetimes);
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            staged.allocation.first_row[tensors[i]] = rows + own.first_row[i];
        }
        rows += own.rows;
        least_rows += own.least_rows;
    }
    for (std::size_t id = 0; id < one_image.size(); ++id) {
        if (!one_image[id].lies_in) continue;
        staged.allocation.first_row[id] = staged.allocation.first_row[*one_image[id].lies_in];
        staged.copies[id] = staged.copies[*one_image[id].lies_in];
    }
    return staged;
}

}  // namespace systole::schedule
