#include "sim/functional/tensor/tensor_state.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"
#include "hw/math/floats/float_values.h"

namespace systole::functional {

TensorState::TensorState(const isa::Program& executed, const TensorSizes& machine, HostMemory& host_memory,
                         isa::HostProcessor* host_processor)
    : program(executed),
      lanes(executed.geometry.tensor.lanes),
      registers(machine.core),
      host(host_memory),
      processor(host_processor),
      vector_memory(machine.vector_rows, lanes),
      hbm(machine.hbm_rows, lanes) {
    for (const isa::InitialRows& initial : program.initial[isa::MemoryId::Hbm]) {
        const isa::RowRange rows = isa::rows_of(initial, isa::MemoryId::Hbm, program.geometry);
        if (rows.last > hbm.rows()) {
            throw isa::ProgramError(
                fmt::format("{}s {} to {} of the program's first values; the machine has {}",
                            isa::place_name(isa::MemoryId::Hbm), rows.first, rows.last - 1, hbm.rows()));
        }
        static_assert(std::endian::native == std::endian::little,
                      "words are kept as they lie in the program");
        std::memcpy(hbm.rows(rows.first, rows.count()).data(), initial.values.data(), initial.values.size());
    }
    for (const isa::ResidentTensor& resident : program.residents) {
        if (resident.end_row(lanes) <= hbm.rows()) continue;
        throw isa::ProgramError(
            fmt::format("{} {} stays in memory up to {} {}; the machine has {}",
                        isa::resident_side_names.at(static_cast<std::size_t>(resident.side)), resident.number,
                        isa::place_name(isa::MemoryId::Hbm), resident.end_row(lanes) - 1, hbm.rows()));
    }
}

void TensorState::check_fits(const isa::Footprint& touched) const {
    for (const auto& [memory, access, rows] : touched) {
        const bool is_vector = memory == isa::MemoryId::VectorMemory;
        if (!is_vector && memory != isa::MemoryId::Hbm) continue;
        const std::uint64_t there = is_vector ? vector_memory.rows() : hbm.rows();
        if (rows.empty() || rows.last <= there) continue;
        throw isa::ProgramError(fmt::format("{}s {} to {}; the machine has {}", isa::place_name(memory),
                                            rows.first, rows.last - 1, there));
    }
}

float TensorState::number(const isa::Panels& panels, std::uint64_t row, std::uint64_t column) {
    if (!panels.packed) return std::bit_cast<float>(word_of(panels, row, column));
    const std::uint32_t both = word_of(panels, row / 2, column);
    return math::float_of_bfloat16(static_cast<std::uint16_t>(row % 2 == 0 ? both : both >> 16));
}

float part_of(float x, unsigned part) {
    float rest = x;
    for (unsigned before = 0; before < part; ++before) {
        const float nearest = math::rounded_to_bfloat16(rest);
        if (!std::isfinite(nearest)) return 0.0F;
        rest = math::settled(rest - nearest);
    }
    return math::rounded_to_bfloat16(rest);
}

}  // namespace systole::functional
