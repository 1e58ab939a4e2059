#include "compiler/target/tensor_core/prepare.h"

#include <utility>

#include "compiler/target/tensor_core/equal_nodes.h"
#include "compiler/target/tensor_core/fuse_chains.h"
#include "compiler/target/tensor_core/narrow_images.h"
#include "compiler/target/tensor_core/needless_conversions.h"
#include "compiler/target/tensor_core/needless_reshapes.h"
#include "compiler/target/tensor_core/relu_masks.h"
#include "compiler/target/tensor_core/transposed_weights.h"

namespace systole::tensor_core {

ir::Graph prepared(const ir::Graph& graph, const machine::MachineConfig& machine) {
    ir::Graph made = with_lines_of_narrow_images(graph, machine.vector_unit.lanes);
    made = without_needless_conversions(std::move(made));
    made = without_needless_reshapes(std::move(made));
    made = with_transposed_weights(std::move(made));
    made = without_equal_nodes(std::move(made));
    made = with_masks_of_results(std::move(made));
    return fuse_chains(std::move(made));
}

}  // namespace systole::tensor_core
