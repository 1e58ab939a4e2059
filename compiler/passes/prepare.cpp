#include "compiler/passes/prepare.h"

#include "compiler/passes/fold_batch_normalization.h"
#include "compiler/passes/fold_concat_into_dense.h"
#include "compiler/passes/fold_padding.h"
#include "compiler/passes/quantize.h"
#include "compiler/passes/remove_identities.h"

namespace systole::passes {

ir::Graph simplify(const ir::Graph& graph) {
    // Identities first: they may stand between a layer and what folds into it.
    return fold_concat_into_dense(fold_padding(fold_batch_normalization(remove_identities(graph))));
}

quantized::Network prepare(const ir::Graph& graph, const Calibration& calibration) {
    return quantize(simplify(graph), calibration);
}

}  // namespace systole::passes
