#include "sim/validate/eight_bit.h"

namespace systole::validate {

ir::Graph with_8_bit_activations(const ir::Graph& graph) {
    ir::Graph narrow = graph;
    for (ir::Value& value : narrow.values) value.stored_as = DataType::Uint8;
    return narrow;
}

}  // namespace systole::validate
