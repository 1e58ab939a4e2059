// 0 from -alpha to alpha; numbers outside come nearer to 0 by beta.
#include "compiler/operators/element_function.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

float shrink_of(float x, const FunctionParameters& parameters) {
    if (x < -parameters.alpha) return x + parameters.beta;
    return x > parameters.alpha ? x - parameters.beta : 0.0F;
}

Word shrink_words(const Word& x, const FunctionParameters& parameters) {
    const Word above = select(less(parameters.alpha, x), x - parameters.beta, 0.0F);
    return select(less(x, -parameters.alpha), x + parameters.beta, above);
}

constexpr float shrink_threshold = 0.5F;

ir::LayerKind onnx_shrink() {
    return {.format = ir::Format::Onnx,
            .name = "Shrink",
            .keys = {{"lambd", "`alpha`"}, {"bias", "`beta`"}},
            .build = [](ir::LayerReader& layer) {
                return layer.append("shrink",
                                    {{"alpha", double{layer.number("lambd", shrink_threshold)}},
                                     {"beta", double{layer.number("bias", 0.0F)}}},
                                    {input_of(layer, 0)});
            }};
}

}  // namespace

std::unique_ptr<ir::Operator> make_shrink() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "shrink",
        .summary = "0 from -alpha to alpha; numbers outside come nearer to 0 by beta.",
        .apply = apply_to_all<shrink_of>,
        .words = shrink_words,
        .attributes = {{.name = "alpha", .meaning = "the threshold", .absent = double{shrink_threshold}},
                       {.name = "beta", .meaning = "what numbers outside lose", .absent = 0.0}},
        .layers = {onnx_shrink()}});
}

}  // namespace systole::operators
