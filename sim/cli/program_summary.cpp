#include "sim/cli/program_summary.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace systole::cli {

nlohmann::ordered_json program_json(const isa::Program& program) {
    using Json = nlohmann::ordered_json;
    Json json{{"array", {{"rows", program.geometry.rows}, {"columns", program.geometry.columns}}},
              {"instruction_count", program.instructions.size()},
              {"weight_tiles", program.tiles.size()},
              {"buffers", Json::array()}};
    for (const isa::HostBuffer& buffer : program.buffers) {
        const std::string_view kind = isa::buffer_kind_names()[static_cast<std::size_t>(buffer.kind)];
        json["buffers"].push_back({{"name", buffer.name}, {"kind", kind}, {"bytes", buffer.bytes}});
    }
    // Programs written by hand belong to no network.
    if (program.inferences > 0) {
        json["model"] = program.model;
        json["batch"] = program.batch;
        json["inferences"] = program.inferences;
        json["layers"] = Json::array();
        for (const isa::LayerInfo& layer : program.layers) {
            json["layers"].push_back({{"name", layer.name}, {"kind", layer.kind}, {"macs", layer.macs}});
        }
    }
    return json;
}

void print_summary(const std::string& file, const isa::Program& program, const OutputOptions& options) {
    if (options.quiet) return;
    if (options.json) {
        nlohmann::ordered_json json = program_json(program);
        json["file"] = file;
        return print_json(json);
    }
    fmt::print("{}: {} instructions, {} weight tiles", file, program.instructions.size(),
               program.tiles.size());
    if (program.inferences > 0) {
        fmt::print(", {} inferences in batches of {}", program.inferences, program.batch);
    }
    fmt::print("\n");
}

}  // namespace systole::cli
