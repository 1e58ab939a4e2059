#pragma once

#include <cstdint>
#include <vector>

#include "compiler/frontend/hlo/shape.h"

namespace systole::hlo {

/// The elements of a literal of this shape, row-major and little endian, whatever its layout. Throws
/// ModelError if the literal has another shape, or not as many elements of its type as it says.
std::vector<std::uint8_t> literal_bytes(const hlo_proto::LiteralProto& literal, ShapeId shape,
                                        ShapeTable& shapes);

}  // namespace systole::hlo
