#include "hw/isa/operands.h"

#include <array>

#include "hw/isa/fields.h"

namespace systole::isa {

void visit_flags(FieldVisitor& visitor, MatrixFlags& flags) {
    visitor.flags(std::array<FlagField, 5>{{{"accumulate", flags.accumulate},
                                            {"keep", flags.keep_weights},
                                            {"signed", flags.signed_activations},
                                            {"wide_a", flags.wide_activations},
                                            {"wide_w", flags.wide_weights}}});
}

}  // namespace systole::isa
