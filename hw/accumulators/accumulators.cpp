#include "hw/accumulators/accumulators.h"

namespace systole::hw {

Accumulators::Accumulators(const sc_core::sc_module_name& name, const machine::MachineConfig& machine)
    : UnitModule(name),
      rows_(machine.accumulators.rows),
      columns_(machine.matrix_unit.columns),
      bank_rows_(rows_ / machine.accumulators.banks),
      sums_(rows_ * columns_) {
    register_counters(counters_);
}

const std::int32_t* Accumulators::read(std::uint64_t first, std::uint64_t count) const {
    sc_assert(first + count <= rows_);
    return sums_.data() + first * columns_;
}

std::int32_t* Accumulators::write(std::uint64_t first, std::uint64_t count) {
    sc_assert(first + count <= rows_);
    return sums_.data() + first * columns_;
}

std::pair<std::size_t, std::size_t> Accumulators::banks(std::uint64_t first, std::uint64_t count) const {
    sc_assert(count > 0 && first + count <= rows_);
    return {first / bank_rows_, (first + count - 1) / bank_rows_};
}

}  // namespace systole::hw
