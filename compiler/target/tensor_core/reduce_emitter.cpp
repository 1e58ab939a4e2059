// Sums over all cores: the rows of all tensors come in one behind the other, and go over the links in one
// transfer, or in as few as vector memory has room for.
#include <algorithm>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {
namespace {

/// Rows that become others.
struct SummedRows {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint64_t rows = 0;
};

}  // namespace

void StepEmitter::all_reduce(const Step& step) {
    std::vector<SummedRows> all;
    std::uint64_t rows = 0;
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
        const Tensor& source = network_.tensors[step.sources[i]];
        const Tensor& result = network_.tensors[step.results[i]];
        for (std::uint64_t panel = 0; panel < panels(step.sources[i]); ++panel) {
            all.push_back({.from = row_of(step.sources[i]) + panel * source.panel_rows,
                           .to = row_of(step.results[i]) + panel * result.panel_rows,
                           .rows = images_ * source.rows});
            rows += all.back().rows;
        }
    }
    // Two parts where not all fits: one comes in or goes out while the other is summed.
    const std::uint64_t room = pool_.largest_gap();
    const std::uint64_t some =
        std::clamp<std::uint64_t>(rows <= room ? rows : room / 2, 1, std::min(step.limits.lines, rows));
    auto next = all.begin();
    std::uint64_t done = 0;  // of its rows
    for (std::uint64_t first = 0; first < rows; first += some) {
        const std::uint64_t count = std::min(some, rows - first);
        const std::uint64_t place = take(step, count);
        std::vector<SummedRows> parts;  // from vector memory
        for (std::uint64_t taken = 0; taken < count;) {
            const std::uint64_t here = std::min(count - taken, next->rows - done);
            copy_in(next->from + done, place + taken, here);
            parts.push_back({.from = place + taken, .to = next->to + done, .rows = here});
            taken += here;
            done += here;
            if (done < next->rows) continue;
            ++next;
            done = 0;
        }
        stream_.append(isa::Collective{.kind = isa::CollectiveKind::AllReduce,
                                       .cores = static_cast<std::uint8_t>(machine_.cores()),
                                       .result = field32(place),
                                       .source = field32(place),
                                       .rows = field32(count)});
        for (const SummedRows& part : parts) {
            stream_.append(isa::DmaOut{.hbm_row = field32(part.to),
                                       .row = field32(part.from),
                                       .rows = field32(part.rows),
                                       .blocks = 1});
        }
        pool_.give_back(place);
    }
}

}  // namespace systole::tensor_core
