#include "compiler/passes/prepare.h"

#include "compiler/passes/fold_batch_normalization.h"
#include "compiler/passes/fold_concat_into_dense.h"
#include "compiler/passes/fold_padding.h"
#include "compiler/passes/quantize.h"
#include "compiler/passes/remove_identities.h"

namespace systole::passes {

PassManager simplification() {
    PassManager passes;
    // Identities first: they may stand between a layer and what folds into it.
    passes.add("remove_identities", remove_identities);
    passes.add("fold_batch_normalization", fold_batch_normalization);
    passes.add("fold_padding", fold_padding);
    passes.add("fold_concat_into_dense", fold_concat_into_dense);
    return passes;
}

ir::Graph simplify(const ir::Graph& graph, const PassObserver& observer) {
    return simplification().run(graph, observer);
}

quantized::Network prepare(const ir::Graph& graph, const Calibration& calibration,
                           const PassObserver& observer) {
    return quantize(simplify(graph, observer), calibration);
}

}  // namespace systole::passes
