#pragma once

#include "compiler/frontend/hlo/devices.h"
#include "compiler/frontend/hlo/module.h"

namespace systole::hlo {

/// The sharding of a value of this shape, whose devices are added to `devices`. The rules are those of XLA's
/// verifier. Throws ModelError if the sharding contradicts itself or the shape.
Sharding read_sharding(const hlo_proto::OpSharding& proto, ShapeId shape, const ShapeTable& shapes,
                       NamedDevices& devices);

}  // namespace systole::hlo
