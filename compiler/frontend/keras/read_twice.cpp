#include "compiler/frontend/keras/read_twice.h"

#include <fmt/format.h>

#include <string>

#include "compiler/frontend/keras/child_process.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {

ir::Graph read_twice(const std::filesystem::path& path, const std::function<ir::Graph()>& read) {
    const auto error_of_reading = [&]() -> std::string {
        try {
            read();
            return {};
        } catch (const ModelError& error) {
            return error.what();
        }
    };
    // HDF5 1.10 crashes or never returns on one in a thousand damaged files and does not recover from others.
    // So a copy of the process reads the file first.
    constexpr unsigned cpu_seconds = 10;
    const auto error = run_in_child(error_of_reading, cpu_seconds);
    if (!error)
        throw ModelError(fmt::format("{}: it is damaged: the HDF5 library cannot read it", path.string()));
    if (!error->empty()) throw ModelError(fmt::format("{}: {}", path.string(), *error));
    ir::Graph graph = read();
    graph.name = path.stem().string();
    return graph;
}

}  // namespace systole::frontend
