#include "hw/isa/instructions/collective.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"

namespace systole::isa {

void Collective::fields(FieldVisitor& visitor) {
    visitor.choice("kind", collective_names, kind);
    visitor.number({.name = "cores", .bytes = 1, .minimum = 1}, cores);
    visitor.number({.name = "dst", .bytes = 3}, result);
    visitor.number({.name = "src", .bytes = 3}, source);
    visitor.number({.name = "rows", .bytes = 3, .minimum = 1}, rows);
}

Footprint Collective::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    const RowRange read{source, source + rows_read()};
    const RowRange written{result, result + rows_written()};
    const bool is_in_place = read == written;
    if (written.overlaps(read) && !is_in_place) {
        throw ProgramError("it may not write rows that it reads, unless they are the same");
    }
    Footprint touched;
    touched.read(MemoryId::VectorMemory, read);
    touched.write(MemoryId::VectorMemory, written);
    return touched;
}

}  // namespace systole::isa
