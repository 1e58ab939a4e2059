#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "compiler/frontend/keras/build_graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"

namespace {

/// Weights of whatever shape is asked for, as long as a file could hold them.
class SmallWeights final : public systole::frontend::WeightSource {
public:
    std::vector<float> read(const systole::frontend::KerasLayer& /*layer*/,
                            const systole::frontend::WantedWeight& wanted) const override {
        constexpr std::uint64_t most = 1 << 16;
        std::uint64_t elements = 1;
        for (const std::uint64_t extent : wanted.shape) {
            if (extent > most || (elements *= extent) > most) throw systole::ModelError("too many weights");
        }
        return std::vector<float>(elements, 0.5F);
    }
};

}  // namespace

namespace {

/// Reads a model_config into a graph, simplifies and prints it.
void read(std::string_view text, const systole::frontend::InputShapes& shapes) {
    constexpr int major_version = 2;
    try {
        const systole::ir::Graph graph = systole::frontend::build_keras_graph(
            text, SmallWeights(), systole::operators::registry(), major_version, shapes);
        const systole::ir::Graph simple = systole::passes::simplify(graph);
        // A normalization of fewer axes than an image has may become a convolution and a reshape.
        const auto normalizations = std::ranges::count_if(
            graph.nodes, [](const auto& node) { return node.is("batch_normalization"); });
        if (std::ssize(simple.nodes) > std::ssize(graph.nodes) + normalizations) __builtin_trap();
        for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
            const auto elements_of = [i](const systole::ir::Graph& of) {
                return of.values[of.outputs[i]].shape.elements();
            };
            if (elements_of(simple) != elements_of(graph)) __builtin_trap();
        }
        if (to_text(simple).empty()) __builtin_trap();
    } catch (const systole::ModelError& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
    }
}

}  // namespace

/// Any text, as the model_config of a Keras file, without a shape of its input and with one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    read(text, {});
    read(text, {.given = {{"", {1, 6, 5, 3}}}});
    return 0;
}
