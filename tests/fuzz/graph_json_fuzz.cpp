#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compiler/frontend/graph_json.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"

/// Any text, as a graph file: read without values of weights, prepared for timing, printed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const systole::ir::Graph graph = systole::frontend::build_json_graph(
            text, systole::operators::registry(), systole::frontend::WeightValues::Skipped);
        if (graph.has_weights || to_text(graph).empty()) __builtin_trap();
        const systole::tpu_v1::Network network = systole::tpu_v1::lower(systole::passes::prepare(graph, {}));
        if (network.has_weights || network.layers.empty()) __builtin_trap();
        const auto made = network.tensors.at(network.outputs.front()).shape.elements();
        if (made != graph.output().shape.elements()) __builtin_trap();
    } catch (const systole::ModelError& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
    }
    return 0;
}
