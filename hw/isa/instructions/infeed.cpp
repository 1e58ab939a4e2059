#include "hw/isa/instructions/infeed.h"

#include <array>

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/panels.h"
#include "hw/isa/program.h"

namespace systole::isa {

void Infeed::fields(FieldVisitor& visitor) {
    visitor.host_address(host_address);
    visitor.number({.name = "hbm", .bytes = 4}, hbm_row);
    visitor.number({.name = "rows", .bytes = 4, .minimum = 1}, rows);
    visitor.number({.name = "columns", .bytes = 3, .minimum = 1}, columns);
    // The last byte of columns in files of programs that had no flags: there it is less than this bit.
    visitor.flags(std::array<FlagsPart, 1>{FlagField{.bit = 7, .word = "packed", .value = packed}});
}

std::uint64_t Infeed::bytes_sent() const {
    constexpr std::uint64_t bfloat16_bytes = 2;
    return std::uint64_t{rows} * columns * (packed ? bfloat16_bytes : word_bytes);
}

Footprint Infeed::footprint(const Registers& registers, const Geometry& geometry) const {
    const Panels panels =
        hbm_panels(registers, geometry.tensor, hbm_row, {rows, columns}, Register::ResultPanelRows, packed);
    Footprint touched;
    touched.read(MemoryId::HostMemory, host_words(registers, host_address, rows, columns));
    touched.write(MemoryId::Hbm, panels.range());
    return touched;
}

}  // namespace systole::isa
