// What the unit says of itself.
#include "hw/dma/dma.h"
#include "hw/isa/memory.h"
#include "hw/timing/tensor.h"

namespace systole::hw {

void Dma::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    unit.box = {.title = "DMA",
                .column = 1,
                .row = 2,
                .lines = {{"one transfer at a time"}},
                .busy_counter = "dma_in.busy_cycles",
                .word = "reading"};
    unit.paths = {{.from = "hbm",
                   .to = "dma",
                   .counters = {"dma.in_bytes"},
                   .unit = "bytes",
                   .most = machine.rate_of_core(machine.hbm_rate()),
                   .traffic = "hbm_read",
                   .label = "HBM to chip",
                   .figures = machine::Side::Left,
                   .shift_x = -30},
                  {.from = "dma",
                   .to = "hbm",
                   .counters = {"dma.out_bytes"},
                   .unit = "bytes",
                   .most = machine.rate_of_core(machine.hbm_rate()),
                   .traffic = "hbm_write",
                   .label = "chip to HBM",
                   .figures = machine::Side::Right,
                   .shift_x = 30},
                  {.from = "dma",
                   .to = "vector_memory",
                   .counters = {"dma.in_bytes"},
                   .unit = "bytes",
                   .most = machine.rate_of_core(machine.hbm_rate()),
                   .shift_y = -20},
                  {.from = "vector_memory",
                   .to = "dma",
                   .counters = {"dma.out_bytes"},
                   .unit = "bytes",
                   .most = machine.rate_of_core(machine.hbm_rate()),
                   .figures = machine::Side::Below,
                   .shift_y = 20}};
}

std::vector<UnitBound> Dma::bounds(const machine::MachineConfig& machine) const {
    return {{.name = "hbm",
             .part = "high-bandwidth memory",
             .meaning = "rows move to vector memory and back",
             .place = 3,
             .is_shared = true,
             .cycles = [this, &machine](const Amounts& amounts) {
                 return timing::hbm_cycles(amounts.of(counters_.in_bytes) + amounts.of(counters_.out_bytes),
                                           machine);
             }}};
}

std::vector<MemoryPlaces> Dma::memories(const machine::MachineConfig& machine) const {
    return {{isa::MemoryId::Hbm, machine.hbm_rows_of_core()}};
}

std::span<const std::uint8_t> Dma::values(isa::MemoryId asked, std::uint64_t first, std::uint64_t places,
                                          std::size_t /*tile*/) const {
    if (asked != isa::MemoryId::Hbm) return {};
    return {reinterpret_cast<const std::uint8_t*>(hbm_.from_row(first)),
            places * context_.machine.vector_row_bytes()};
}

}  // namespace systole::hw
