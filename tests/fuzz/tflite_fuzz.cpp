#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/frontend/tflite.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"

namespace {

/// Reads a file into a graph, prints and simplifies it.
void read(const std::vector<std::uint8_t>& file, const systole::frontend::TfliteOptions& options) {
    try {
        const systole::ir::Graph graph =
            systole::frontend::build_tflite_graph(file, systole::operators::registry(), options);
        if (systole::ir::find_fault(graph)) __builtin_trap();
        if (systole::ir::summary_of(graph).empty()) __builtin_trap();
        if (systole::passes::simplify(graph).outputs.size() != graph.outputs.size()) __builtin_trap();
    } catch (const systole::ModelError& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
    }
}

}  // namespace

/// Any bytes, as a TFLite file: its only network, and one of a name and with a shape that the seeds have.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Whole files are read into memory that is aligned as the tables need it.
    const std::vector<std::uint8_t> file(data, data + size);
    read(file, {});
    read(file, {.signature = "encode"});
    read(file, {.shapes = {.given = {{"", {1, 6, 5, 3}}}}});
    return 0;
}
