#include "compiler/passes/prepare.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/message_text.h"
#include "compiler/ir/program.h"
#include "compiler/passes/absorb_border_conversions.h"
#include "compiler/passes/absorb_constants.h"
#include "compiler/passes/check_chip_limits.h"
#include "compiler/passes/compute_in_words.h"
#include "compiler/passes/correct_biases.h"
#include "compiler/passes/fold_batch_normalization.h"
#include "compiler/passes/fold_concat_into_dense.h"
#include "compiler/passes/fold_padding.h"
#include "compiler/passes/fold_qdq.h"
#include "compiler/passes/move_transposes.h"
#include "compiler/passes/quantize.h"
#include "compiler/passes/recognize_operators.h"
#include "compiler/passes/remove_identities.h"
#include "compiler/passes/set_rounding.h"
#include "compiler/passes/unite_ranges.h"

namespace systole::passes {

PassManager simplification() {
    PassManager passes;
    // Transpositions and identities first: they may lie between a layer and a node that folds into it.
    passes.add("move_transposes", move_transposes);
    passes.add("remove_identities", remove_identities);
    // While constants are still operands of the nodes that a file has.
    passes.add("recognize_operators", recognize_operators);
    passes.add("fold_qdq", fold_qdq);
    passes.add("absorb_border_conversions", absorb_border_conversions);
    passes.add("absorb_constants", absorb_constants);
    passes.add("fold_batch_normalization", fold_batch_normalization);
    // Those behind a vector that has become the result of a convolution.
    passes.add("remove_reshapes", remove_identities);
    passes.add("fold_padding", fold_padding);
    passes.add("fold_concat_into_dense", fold_concat_into_dense);
    return passes;
}

namespace {

using SharedCalibration = std::shared_ptr<const Calibration>;

/// The passes of preparation() whose results are networks in float.
PassManager preparation_in_float(const SharedCalibration& calibration) {
    PassManager passes = simplification();
    passes.add("calibrate",
               [calibration](ir::Graph graph) { return calibrate(std::move(graph), *calibration); });
    passes.add("unite_ranges", unite_ranges);
    return passes;
}

ir::Graph quantized(const ir::Graph& real, const Calibration& calibration) {
    if (ir::is_quantized(real)) return real;
    return correct_biases(quantize(real, calibration.encoding, calibration.quantizes_products), real,
                          calibration);
}

void add_rounding(PassManager& passes, std::optional<Rounding> rounding) {
    if (!rounding) return;
    passes.add("set_rounding",
               [rounding](ir::Graph graph) { return set_rounding(std::move(graph), *rounding); });
}

}  // namespace

PassManager preparation(Calibration calibration, std::optional<Rounding> rounding) {
    const auto shared = std::make_shared<const Calibration>(std::move(calibration));
    PassManager passes = preparation_in_float(shared);
    passes.add("quantize", [shared](const ir::Graph& real) { return quantized(real, *shared); });
    add_rounding(passes, rounding);
    return passes;
}

PassManager preparation_in_words(ir::WordsOptions options, bool is_program) {
    PassManager passes = is_program ? PassManager() : simplification();
    passes.add("compute_in_words", [options = std::move(options)](const ir::Graph& graph) {
        return compute_in_words(graph, options);
    });
    return passes;
}

namespace {

/// What machines that compute in integers demand.
void check_for_integers(const ir::Graph& graph) {
    check_chip_limits(graph);
    refuse_work_of_tensor_cores(graph);
}

}  // namespace

QuantizedNetwork prepare_beside_float(const ir::Graph& graph, Calibration calibration,
                                      std::optional<Rounding> rounding) {
    check_for_integers(graph);
    const auto shared = std::make_shared<const Calibration>(std::move(calibration));
    QuantizedNetwork network;
    PassManager passes = preparation_in_float(shared);
    passes.add("quantize", [&](ir::Graph real) {
        ir::Graph stored = quantized(real, *shared);
        // The pass manager has numbered the values of its graph, and checks that the shapes are the same.
        for (const ir::Value& value : stored.values) network.real_of.push_back(value.before);
        network.real = std::move(real);
        return stored;
    });
    add_rounding(passes, rounding);
    network.stored = passes.run(graph);
    for (ir::Value& value : network.real.values) value.before.reset();
    return network;
}

void check_borders(const ir::Graph& graph, const ir::Graph& prepared) {
    const auto check = [&](const std::vector<ir::ValueId>& before, const std::vector<ir::ValueId>& after) {
        for (std::size_t i = 0; i < before.size(); ++i) {
            const ir::Value& value = graph.values[before[i]];
            if (prepared.values[after.at(i)].file_axes == value.file_axes) continue;
            throw std::logic_error(fmt::format("{}: {} has another order of axes after the passes",
                                               graph.name, in_quotes(value.name)));
        }
    };
    check(graph.inputs, prepared.inputs);
    check(graph.outputs, prepared.outputs);
}

ir::Graph simplify(const ir::Graph& graph, const PassObserver& observer) {
    check_for_integers(graph);
    return simplification().run(graph, observer);
}

ir::Graph prepare(const ir::Graph& graph, Calibration calibration, const PassObserver& observer,
                  std::optional<Rounding> rounding) {
    check_for_integers(graph);
    return preparation(std::move(calibration), rounding).run(graph, observer);
}

ir::Graph prepare_in_words(const ir::Graph& graph, ir::WordsOptions options, const PassObserver& observer) {
    check_inferences(graph);
    return preparation_in_words(std::move(options), ir::is_program(graph)).run(graph, observer);
}

}  // namespace systole::passes
