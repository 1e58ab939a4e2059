#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hw/isa/program_error.h"
#include "hw/math/floats/float_values.h"
#include "sim/functional/tensor/tensor_instructions.h"

namespace systole::functional {
namespace {

float number_in(std::uint32_t word) {
    return math::settled(std::bit_cast<float>(word));
}

/// The word of the result that core `core` gets at `place`.
std::uint32_t word_for(std::size_t core, std::size_t place, const isa::Collective& collective,
                       const std::vector<std::vector<std::uint32_t>>& given, std::size_t words) {
    const auto sum_at = [&](std::size_t at) {
        float sum = number_in(given.front()[at]);
        for (std::size_t other = 1; other < given.size(); ++other) {
            sum = math::settled(sum + number_in(given[other][at]));
        }
        return std::bit_cast<std::uint32_t>(sum);
    };
    switch (collective.kind) {
        case isa::CollectiveKind::AllReduce:
            return sum_at(place);
        case isa::CollectiveKind::ReduceScatter:
            return sum_at(core * words + place);
        case isa::CollectiveKind::AllGather:
            return given[place / words][place % words];
        case isa::CollectiveKind::Broadcast:
            break;
    }
    return given.front()[place];
}

}  // namespace

void execute_together(std::span<const isa::Collective* const> collectives,
                      std::span<TensorState* const> cores) {
    const isa::Collective& first = *collectives.front();
    std::vector<std::vector<std::uint32_t>> given;
    for (std::size_t core = 0; core < cores.size(); ++core) {
        const isa::Collective& own = *collectives[core];
        if (own.kind != first.kind || own.rows != first.rows) {
            throw isa::ProgramError("cores meet in different collectives");
        }
        const auto rows = cores[core]->vector_memory.rows(own.source, own.rows_read());
        given.emplace_back(rows.begin(), rows.end());
    }
    for (std::size_t core = 0; core < cores.size(); ++core) {
        const isa::Collective& own = *collectives[core];
        const auto result = cores[core]->vector_memory.rows(own.result, own.rows_written());
        for (std::size_t place = 0; place < result.size(); ++place) {
            result[place] = word_for(core, place, first, given, own.rows * cores[core]->lanes);
        }
    }
}

}  // namespace systole::functional
