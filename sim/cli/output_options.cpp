#include "sim/cli/output_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "sim/cli/messages.h"
#include "sim/view/terminal/layout.h"

namespace systole::cli {

CLI::Option* add_quiet_option(CLI::App& command, OutputOptions& options) {
    return command.add_flag("--quiet", options.quiet, "print nothing");
}

CLI::Option* add_json_option(CLI::App& command, OutputOptions& options, const std::string& what) {
    return command.add_flag("--json", options.json, fmt::format("print {} instead of text", what));
}

CLI::Option* add_all_option(CLI::App& command, bool& all) {
    return command.add_flag("--all", all, "list all layers, not only the ten with most cycles");
}

void add_color_option(CLI::App& command, Context& context) {
    using terminal::colours_names;
    const std::vector<std::string> names(colours_names.begin(), colours_names.end());
    CLI::Option* option = command.add_option_function<std::string>(
        "--color",
        [&context, names](const std::string& name) {
            const auto chosen = std::find(names.begin(), names.end(), name) - names.begin();
            context.screen.colours = static_cast<terminal::Colours>(chosen);
        },
        "auto (on a terminal, unless NO_COLOR is set), always, never");
    option->type_name("WHEN");
    context.only(option, names);
}

void print_json(const nlohmann::ordered_json& json) {
    // Texts from files may contain invalid UTF-8, which is replaced.
    constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
    print_data(json.dump(2, ' ', false, replace) + "\n");
}

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

void print_summary(const std::string& file, const isa::Program& program, const OutputOptions& options,
                   const std::optional<report::Batching>& batching,
                   const std::optional<machine::CutImages>& cut_images) {
    if (options.quiet) return;
    if (options.json) {
        nlohmann::ordered_json json = program_json(program);
        json["file"] = file;
        if (batching) json["batching"] = report::to_json(*batching);
        if (cut_images) json["cut_images"] = report::to_json(*cut_images);
        return print_json(json);
    }
    print_text({}, "{}: {} instructions, {} weight tiles", file, program.instructions.size(),
               program.tiles.size());
    if (program.inferences > 0) {
        print_text({}, ", {} inferences {}", program.inferences,
                   report::batches_text(batching, program.batch, program.inferences));
    }
    fmt::print("\n");
    constexpr std::size_t columns = 80;
    if (batching && !batching->text.empty()) {
        print_text({}, "{}\n", terminal::beside("  batch: ", batching->text, columns));
    }
    if (cut_images) {
        print_text({}, "{}\n", terminal::beside("  memory: ", report::cut_images_text(*cut_images), columns));
    }
}

}  // namespace systole::cli
