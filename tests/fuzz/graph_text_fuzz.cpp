#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"

/// Any text, as that of a graph: what can be read is whole and reads back from its own text to an equal
/// graph. Passes keep its outputs. One on integers is lowered to work of the chip and the host.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const systole::ir::OperatorSet& operators = systole::operators::registry();
    try {
        const systole::ir::Graph graph = systole::ir::parse_graph(text, "input", operators);
        if (systole::ir::parse_graph(to_text(graph), "own text", operators) != graph) __builtin_trap();
        const systole::ir::Graph simple = systole::passes::simplify(graph);
        if (simple.outputs.size() != graph.outputs.size()) __builtin_trap();
        if (systole::ir::is_quantized(simple) &&
            systole::tpu_v1::lower(simple).outputs.size() != graph.outputs.size()) {
            __builtin_trap();
        }
    } catch (const systole::ModelError& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
    }
    return 0;
}
