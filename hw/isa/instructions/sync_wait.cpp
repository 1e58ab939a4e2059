#include "hw/isa/instructions/sync_wait.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"

namespace systole::isa {

void SyncWait::fields(FieldVisitor& visitor) {
    visitor.choice("unit", queue_names(), unit);
    visitor.number({.name = "sem", .bytes = 1}, semaphore);
}

Footprint SyncWait::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    return {};
}

}  // namespace systole::isa
