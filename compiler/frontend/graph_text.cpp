#include "compiler/frontend/graph_text.h"

#include <fmt/format.h>

#include "compiler/frontend/text_file.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"

namespace systole::frontend {

ir::Graph read_graph_text(const std::filesystem::path& path, const ir::OperatorSet& operators) {
    ir::Graph graph = ir::parse_graph(read_text(path), path.string(), operators);
    if (graph.inputs.size() != 1 || graph.outputs.size() != 1) {
        throw ModelError(fmt::format("{}: it has {} inputs and {} outputs; a network must have one of each",
                                     path.string(), graph.inputs.size(), graph.outputs.size()));
    }
    return graph;
}

}  // namespace systole::frontend
