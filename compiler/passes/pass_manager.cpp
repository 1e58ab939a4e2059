#include "compiler/passes/pass_manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/graph.h"

namespace systole::passes {

void PassManager::add(std::string name, Transformation pass) {
    if (std::ranges::find(passes_, name, &Pass::name) != passes_.end()) {
        throw std::logic_error(fmt::format("two passes are called {}", name));
    }
    passes_.push_back({std::move(name), std::move(pass)});
}

std::vector<std::string> PassManager::names() const {
    std::vector<std::string> names;
    for (const Pass& pass : passes_) names.push_back(pass.name);
    return names;
}

ir::Graph PassManager::run(ir::Graph graph, const PassObserver& observer) const {
    ir::verify(graph, "the graph that was read");
    for (const Pass& pass : passes_) {
        graph = pass.transform(std::move(graph));
        ir::verify(graph, pass.name);
        if (observer) observer(pass.name, graph);
    }
    return graph;
}

}  // namespace systole::passes
