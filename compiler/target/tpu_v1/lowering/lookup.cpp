// Lookups: part of matrix work that nothing else reads (matrix_product.cpp), else vector work.
#include <algorithm>

#include "compiler/target/tpu_v1/lowering/lowerings.h"
#include "hw/isa/instructions/vector.h"

namespace systole::tpu_v1 {

Table table_of(const ir::NodeView& lookup) {
    const ir::Constant& contents = *lookup.constant(0)->constant;
    if (bytes_of(lookup.output().type) == 2) {
        WideTable table{};
        std::ranges::copy(contents.values<std::int16_t>(), table.begin());
        return table;
    }
    ByteTable table{};
    std::ranges::copy(contents.bytes(), table.begin());
    return table;
}

void lower_lookup(const ir::NodeView& node, Lowering& lowering) {
    lowering.add_layer(node.node(), node.node().output(),
                       Elementwise{.operation = isa::VectorOperation::Lookup,
                                   .a = {},
                                   .b = {},
                                   .result = {},
                                   .table = table_of(node)});
}

}  // namespace systole::tpu_v1
