#include "hw/isa/instructions/host_work.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"

namespace systole::isa {

void HostWork::fields(FieldVisitor& visitor) {
    visitor.number({.name = "segment", .bytes = 2}, segment);
    visitor.number({.name = "first", .bytes = 4}, first_inference);
    visitor.number({.name = "images", .bytes = 4, .minimum = 1}, images);
}

Footprint HostWork::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    return {};
}

}  // namespace systole::isa
