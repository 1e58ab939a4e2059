#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compiler/frontend/hlo.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "tests/support/hlo_promises.h"

/// Any bytes, as an HLO module: read, verified, printed, made a graph.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const systole::hlo::Module module =
            systole::hlo::parse_module({reinterpret_cast<const char*>(data), size});
        if (!systole::tests::broken_promise(module).empty()) __builtin_trap();
        if (to_text(module).empty()) __builtin_trap();
        const systole::ir::Graph graph = to_graph(module, systole::operators::registry());
        if (find_fault(graph)) __builtin_trap();
    } catch (const systole::ModelError& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
    }
    return 0;
}
